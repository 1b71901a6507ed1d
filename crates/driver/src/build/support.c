/* What kernels ask of their surroundings. Everything belongs to one call: there is no global state. Names at file
   scope have no underscore: those of the functions of a library have one. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sizes and extents beyond this are taken for mistakes. */
#define LARGEST ((int64_t)1 << 40)
#define FULL (-1)
#define OPEN (-2)

typedef struct { void *data; unsigned char *marks; const int64_t *shape; } view;

typedef struct {
    int32_t rank, size, has_marks;
    const int64_t *layout; /* per axis FULL, OPEN, or how many planes are kept */
} bufferInfo;

/* What may go wrong at a place, and the numbers that are shown with it. */
enum { READ = 1, READSOMEWHERE, DIVISION, EXTENTS };

typedef struct {
    const char *place, *what;
    int32_t fault;
    int32_t by_size[2];
    int64_t with[2]; /* codes, a sign, or extents: numbers of sizes, or themselves */
} siteInfo;

typedef struct {
    int32_t n_buffers, n_inputs, n_outputs, n_keys, n_sites, n_sizes;
    const bufferInfo *buffers;
    const int32_t *outputs;
    const siteInfo *sites;
    const int32_t (*sizes)[2]; /* buffer and axis, or -1 for the next number */
    int64_t (*entry)(void *);
    int64_t (*scalar)(void *, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t *);
    int64_t (*call)(void *, uint64_t, const uint64_t *, uint64_t *);
} kernelInfo;

typedef struct { void *data; int64_t shape[MAXRANK]; int32_t owned; } tensor;

typedef struct { uint64_t key; int64_t at; } keyed;

typedef struct {
    int32_t sorted;
    int64_t n, room, dims, at;
    uint64_t bin;
    keyed *keys;
    int64_t *points;
} table;

typedef struct { int64_t shape[MAXRANK], plane, room; } memory;

typedef struct {
    const kernelInfo *of;
    view *views;
    memory *memory;
    table *tables;
    const char *why;
    int64_t told[4]; /* what code says of its end */
    char *message;
    size_t size;
    int32_t depth, said; /* how deep calls are nested, and whether the message is there */
} environment;

static int32_t fail(char *message, size_t size, const char *text) {
    if (message && size > 0) snprintf(message, size, "%s", text);
    return 1;
}

static int64_t refuse(environment *env, const char *why) {
    env->why = why;
    return 0;
}

/* What a function that was called has said is the message. */
static int64_t said(environment *env) {
    env->said = 1;
    return 0;
}

/* Room for so many elements, the first `keep` bytes as they were and the rest zero. */
static int64_t reserve(environment *env, uint64_t buffer, int64_t n, int64_t keep) {
    const bufferInfo *info = &env->of->buffers[buffer];
    view *v = &env->views[buffer];
    memory *m = &env->memory[buffer];
    if (n > m->room || !v->data) {
        size_t bytes;
        if (__builtin_mul_overflow((size_t)(n > 0 ? n : 1), (size_t)info->size, &bytes))
            return refuse(env, "a tensor has more points than any memory");
        void *data = calloc(bytes, 1);
        unsigned char *marks = info->has_marks ? calloc((size_t)(n > 0 ? n : 1), 1) : NULL;
        if (!data || (info->has_marks && !marks)) {
            free(data);
            free(marks);
            return refuse(env, "there is not enough memory");
        }
        if (keep > 0) memcpy(data, v->data, (size_t)(keep * info->size));
        if (keep > 0 && marks) memcpy(marks, v->marks, (size_t)keep);
        free(v->data);
        free(v->marks);
        v->data = data;
        v->marks = marks;
        m->room = n;
    } else if (keep == 0) {
        memset(v->data, 0, (size_t)n * (size_t)info->size);
        if (v->marks) memset(v->marks, 0, (size_t)n);
    }
    return 1;
}

static int64_t serviceAlloc(void *e, uint64_t buffer, const int64_t *extents) {
    environment *env = e;
    const bufferInfo *info = &env->of->buffers[buffer];
    memory *m = &env->memory[buffer];
    int64_t n = 1, total;
    int32_t open = 0;
    for (int32_t axis = 0; axis < info->rank; axis++) {
        int64_t extent = extents[axis] > 0 ? extents[axis] : 0, layout = info->layout[axis];
        if (extent > LARGEST) return refuse(env, "an extent is out of all bounds");
        m->shape[axis] = extent;
        if (layout == OPEN) {
            open = 1;
        } else if (__builtin_mul_overflow(n, layout == FULL ? extent : layout, &n)) {
            return refuse(env, "a tensor has more points than any memory");
        }
    }
    m->plane = n;
    total = open ? 0 : n;
    return reserve(env, buffer, total, 0);
}

/* Memory of one thread: what it had before, if that is as large as what it needs now. */
static int64_t serviceOwn(void *e, uint64_t buffer, const int64_t *extents, const int64_t *kept) {
    environment *env = e;
    const bufferInfo *info = &env->of->buffers[buffer];
    int32_t same = env->views[buffer].data != NULL;
    (void)kept;
    for (int32_t axis = 0; axis < info->rank; axis++)
        same = same && env->memory[buffer].shape[axis] == extents[axis];
    if (!same && !serviceAlloc(e, buffer, extents)) return 0;
    return (int64_t)(intptr_t)env->views[buffer].data;
}

static int64_t serviceFree(void *e, uint64_t buffer) {
    environment *env = e;
    free(env->views[buffer].data);
    free(env->views[buffer].marks);
    env->views[buffer].data = NULL;
    env->views[buffer].marks = NULL;
    env->memory[buffer].room = 0;
    return 1;
}

static int64_t serviceGrow(void *e, uint64_t buffer, uint64_t axis, int64_t extent) {
    environment *env = e;
    memory *m = &env->memory[buffer];
    int64_t n;
    m->shape[axis] = extent;
    if (env->of->buffers[buffer].layout[axis] != OPEN) return 1;
    if (__builtin_mul_overflow(extent, m->plane, &n))
        return refuse(env, "a tensor has more points than any memory");
    if (n <= m->room) return 1;
    int64_t room = n > 2 * m->room ? n : 2 * m->room;
    return reserve(env, buffer, room, m->room);
}

static int64_t countElements(const bufferInfo *info, const memory *m) {
    int64_t n = 1;
    for (int32_t axis = 0; axis < info->rank; axis++)
        n *= info->layout[axis] > 0 ? info->layout[axis] : m->shape[axis];
    return n;
}

static int64_t serviceCopy(void *e, uint64_t to, uint64_t from) {
    environment *env = e;
    const bufferInfo *info = env->of->buffers;
    int64_t n = countElements(&info[from], &env->memory[from]);
    if (n != countElements(&info[to], &env->memory[to])) return refuse(env, "shapes differ");
    memcpy(env->views[to].data, env->views[from].data, (size_t)(n * info[to].size));
    if (env->views[to].marks) {
        if (env->views[from].marks) memcpy(env->views[to].marks, env->views[from].marks, (size_t)n);
        else memset(env->views[to].marks, 1, (size_t)n);
    }
    return 1;
}

static int64_t serviceTick(void *e, uint64_t n) { (void)e; (void)n; return 1; }

static int64_t serviceScalar(void *e, uint64_t number, uint64_t x, uint64_t y, uint64_t z, uint64_t *out) {
    environment *env = e;
    return env->of->scalar ? env->of->scalar(e, number, x, y, z, out) : 0;
}

static int64_t serviceCall(void *e, uint64_t number, const uint64_t *args, uint64_t *out) {
    environment *env = e;
    return env->of->call ? env->of->call(e, number, args, out) : 0;
}

static int64_t serviceSorted(void *e, uint64_t number, uint64_t dims) {
    table *t = &((environment *)e)->tables[number];
    if (!t->sorted) { t->n = 0; t->dims = (int64_t)dims; }
    return t->sorted;
}

static int64_t serviceAddKey(void *e, uint64_t number, uint64_t dims, uint64_t key, const int64_t *point) {
    environment *env = e;
    table *t = &env->tables[number];
    if (t->n == t->room) {
        int64_t room = t->room ? 2 * t->room : 64;
        keyed *keys = realloc(t->keys, (size_t)room * sizeof *keys);
        if (keys) t->keys = keys;
        int64_t *points = realloc(t->points, (size_t)room * (size_t)dims * sizeof *points);
        if (points) t->points = points;
        if (!keys || !points) { env->why = "there is not enough memory"; return 0; }
        t->room = room;
    }
    t->keys[t->n] = (keyed){key, t->n};
    memcpy(t->points + t->n * (int64_t)dims, point, (size_t)dims * sizeof *point);
    t->n++;
    return 1;
}

static int byKey(const void *a, const void *b) {
    const keyed *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static int64_t serviceSort(void *e, uint64_t number) {
    environment *env = e;
    table *t = &env->tables[number];
    if (env->why) return 0;
    if (t->n > 0) qsort(t->keys, (size_t)t->n, sizeof *t->keys, byKey);
    t->sorted = 1;
    return 1;
}

static int64_t serviceVisit(void *e, uint64_t number, uint64_t key) {
    table *t = &((environment *)e)->tables[number];
    int64_t low = 0, high = t->n;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (t->keys[middle].key < key) low = middle + 1;
        else high = middle;
    }
    t->at = low;
    t->bin = key;
    return 1;
}

static int64_t serviceNext(void *e, uint64_t number, uint64_t dims, int64_t *point) {
    table *t = &((environment *)e)->tables[number];
    if (t->at >= t->n || t->keys[t->at].key != t->bin) return 0;
    memcpy(point, t->points + t->keys[t->at].at * (int64_t)dims, (size_t)dims * sizeof *point);
    t->at++;
    return 1;
}

/* Moves a buffer out, with the axes in order: an open axis lies outermost in memory. */
static int32_t take(environment *env, int32_t buffer, int32_t again, tensor *result) {
    const bufferInfo *info = &env->of->buffers[buffer];
    const memory *m = &env->memory[buffer];
    view *v = &env->views[buffer];
    int64_t n = 1;
    int32_t open = -1;
    for (int32_t axis = 0; axis < info->rank; axis++) {
        result->shape[axis] = m->shape[axis];
        n *= m->shape[axis];
        if (info->layout[axis] == OPEN) open = axis;
    }
    result->owned = 1;
    if (open <= 0 && !again && buffer >= env->of->n_inputs) {
        result->data = v->data;
        v->data = NULL;
        return 0;
    }
    size_t size = (size_t)info->size;
    unsigned char *data = malloc((size_t)(n > 0 ? n : 1) * size);
    if (!data) return 1;
    result->data = data;
    if (open <= 0) {
        memcpy(data, v->data, (size_t)n * size);
        return 0;
    }
    int64_t point[MAXRANK] = {0}, strides[MAXRANK], stride = 1;
    for (int32_t axis = info->rank - 1; axis >= 0; axis--) {
        strides[axis] = axis == open ? m->plane : stride;
        if (axis != open) stride *= m->shape[axis];
    }
    for (int64_t at = 0; at < n; at++) {
        int64_t from = 0;
        for (int32_t axis = 0; axis < info->rank; axis++) from += point[axis] * strides[axis];
        memcpy(data + (size_t)at * size, (unsigned char *)v->data + (size_t)from * size, size);
        for (int32_t axis = info->rank - 1; axis >= 0 && ++point[axis] == m->shape[axis]; axis--)
            point[axis] = 0;
    }
    return 0;
}

/* Says what went wrong at a site. */
static void explain(const siteInfo *site, const int64_t *told, const int64_t *sizes, char *message, size_t size) {
    const char *place = site->place, *what = site->what;
    if (!message || size == 0) return;
    if ((site->fault == READ || site->fault == READSOMEWHERE) && told[0] == 2) {
        snprintf(message, size, "%sE%04d: %s is read at a point that is not computed", place, (int)site->with[1], what);
    } else if (site->fault == READ && told[0] == 1) {
        snprintf(message, size, "%sE%04d: %s is read at index %lld of axis %lld, whose extent is %lld", place,
                 (int)site->with[0], what, (long long)told[2], (long long)told[1], (long long)told[3]);
    } else if (site->fault == READ || site->fault == READSOMEWHERE) {
        snprintf(message, size, "%sE%04d: %s is read at a point that is not there", place, (int)site->with[0], what);
    } else if (site->fault == DIVISION && told[0] == 3) {
        snprintf(message, size, "%s%s: `%lld %c 0`", place, what, (long long)told[1], (char)site->with[0]);
    } else if (site->fault == EXTENTS) {
        snprintf(message, size, "%s%s (%lld and %lld)", place, what,
                 (long long)(site->by_size[0] ? sizes[site->with[0]] : site->with[0]),
                 (long long)(site->by_size[1] ? sizes[site->with[1]] : site->with[1]));
    } else {
        snprintf(message, size, "%s%s", place, what);
    }
}

static int32_t runKernel(const kernelInfo *of, int32_t depth, tensor *const *inputs, const int64_t *numbers,
                          tensor *const *results, char *message, size_t size) {
    int64_t sizes[of->n_sizes + 1];
    int32_t status = 1;
    environment env = {of, calloc((size_t)of->n_buffers + 1, sizeof(view)),
                       calloc((size_t)of->n_buffers + 1, sizeof(memory)),
                       calloc((size_t)of->n_keys + 1, sizeof(table)), NULL, {0}, message, size,
                       depth, 0};
    if (!env.views || !env.memory || !env.tables) {
        fail(message, size, "there is not enough memory");
        goto done;
    }
    for (int32_t b = 0; b < of->n_buffers; b++) {
        env.views[b].shape = env.memory[b].shape;
        if (b >= of->n_inputs) continue;
        env.views[b].data = inputs[b]->data;
        memcpy(env.memory[b].shape, inputs[b]->shape, sizeof inputs[b]->shape);
    }
    for (int32_t s = 0; s < of->n_sizes; s++) {
        /* A number may be any; as the extent of a result it is looked at when memory is asked for. */
        sizes[s] = of->sizes[s][0] < 0 ? *numbers++ : env.memory[of->sizes[s][0]].shape[of->sizes[s][1]];
    }
    struct frame frame = makeFrame(&env, sizes, env.views);
    int64_t ended = of->entry(&frame);
    if (ended != 0) {
        if (env.said)
            goto done;
        if (ended > 0 && ended - 1 < of->n_sites)
            explain(&of->sites[ended - 1], env.told, sizes, message, size);
        else
            fail(message, size, env.why ? env.why : "a value that has no meaning");
        goto done;
    }
    status = 0;
    for (int32_t o = 0; o < of->n_outputs && !status; o++) {
        int32_t again = 0;
        for (int32_t later = o + 1; later < of->n_outputs; later++)
            again |= of->outputs[later] == of->outputs[o];
        status = take(&env, of->outputs[o], again, results[o]);
        if (status) fail(message, size, "there is not enough memory");
    }
done:
    for (int32_t b = of->n_inputs; env.views && b < of->n_buffers; b++) {
        free(env.views[b].data);
        free(env.views[b].marks);
    }
    for (int32_t k = 0; env.tables && k < of->n_keys; k++) {
        free(env.tables[k].keys);
        free(env.tables[k].points);
    }
    free(env.views);
    free(env.memory);
    free(env.tables);
    return status;
}

/* A result of a function with its owner, if that is one of its tensors. */
static tensor moved(tensor *t, size_t n, size_t at) {
    tensor result = t[at];
    for (size_t i = 0; i < n; i++) {
        if (!t[i].owned || t[i].data != result.data) continue;
        t[i].owned = 0;
        result.owned = 1;
    }
    return result;
}

/* How the language spells an element type. */
static const char *elemName(int32_t elem) {
    static const char *const names[] = {"bool", "i8", "i16", "i32", "i64", "u8", "u16",
                                        "u32", "u64", "f8e4m3", "f16", "bf16", "f32", "f64"};
    return elem >= 0 && elem < (int32_t)(sizeof names / sizeof *names) ? names[elem] : "no known type";
}

/* Takes an argument over; one that does not lie in order is copied. */
static int32_t given(const einlang_tensor *from, const char *name, int32_t elem, int32_t rank, size_t size,
                     tensor *to, char *message, size_t message_size) {
    char text[256];
    int64_t n = 1, in_order = 1, expected = 1;
    if (!from) {
        snprintf(text, sizeof text, "argument `%s` is null", name);
        return fail(message, message_size, text);
    }
    if (from->elem != elem || from->rank != rank) {
        snprintf(text, sizeof text, "argument `%s` must be a tensor of %s with rank %d, but is one of %s with rank %d",
                 name, elemName(elem), (int)rank, elemName(from->elem), (int)from->rank);
        return fail(message, message_size, text);
    }
    for (int32_t axis = rank - 1; axis >= 0; axis--) {
        if (from->extents[axis] < 0 || from->extents[axis] > LARGEST ||
            __builtin_mul_overflow(n, from->extents[axis], &n)) {
            snprintf(text, sizeof text, "argument `%s` has an extent out of all bounds", name);
            return fail(message, message_size, text);
        }
        to->shape[axis] = from->extents[axis];
        if (from->extents[axis] > 1 && from->strides[axis] != expected) in_order = 0;
        expected *= from->extents[axis];
    }
    if (n > 0 && !from->data) {
        snprintf(text, sizeof text, "argument `%s` has no data", name);
        return fail(message, message_size, text);
    }
    if (in_order || n == 0) {
        to->data = from->data;
        return 0;
    }
    size_t bytes;
    unsigned char *data = __builtin_mul_overflow((size_t)n, size, &bytes) ? NULL : malloc(bytes);
    if (!data) return fail(message, message_size, "there is not enough memory");
    int64_t point[MAXRANK] = {0};
    for (int64_t at = 0; at < n; at++) {
        int64_t place = 0;
        for (int32_t axis = 0; axis < rank; axis++) place += point[axis] * from->strides[axis];
        memcpy(data + (size_t)at * size, (const unsigned char *)from->data + place * (int64_t)size, size);
        for (int32_t axis = rank - 1; axis >= 0 && ++point[axis] == from->extents[axis]; axis--)
            point[axis] = 0;
    }
    to->data = data;
    to->owned = 1;
    return 0;
}

/* Hands a result over; one that is an argument is copied. */
static int32_t handed(tensor *from, int32_t elem, int32_t rank, size_t size, einlang_tensor *to, char *message,
                      size_t message_size) {
    int64_t n = 1;
    memset(to, 0, sizeof *to);
    to->elem = elem;
    to->rank = rank;
    for (int32_t axis = rank - 1; axis >= 0; axis--) {
        to->extents[axis] = from->shape[axis];
        to->strides[axis] = n;
        n *= from->shape[axis];
    }
    if (from->owned) {
        to->data = from->data;
        from->owned = 0;
        return 0;
    }
    to->data = malloc((size_t)(n > 0 ? n : 1) * size);
    if (!to->data) return fail(message, message_size, "there is not enough memory");
    if (n > 0) memcpy(to->data, from->data, (size_t)n * size);
    return 0;
}

def add(suite):
    pass

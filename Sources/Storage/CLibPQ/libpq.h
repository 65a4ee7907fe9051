// The client library of PostgreSQL; pkg-config says where its headers are.
#include <libpq-fe.h>

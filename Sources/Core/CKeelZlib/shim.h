// The system's zlib, under a module name that no other package uses.
#include <zlib.h>

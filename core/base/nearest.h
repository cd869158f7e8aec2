/* Suggestions for misspelt names. */
#ifndef RP_NEAREST_H
#define RP_NEAREST_H

/* Search for the name that is most similar to `wanted`; `found` is NULL if none is similar. */
typedef struct RpNearest {
  const char *wanted, *found;
  int edits, alike;
} RpNearest;

RpNearest rp_nearest_start(const char *wanted);

/*
** Compare with one more name. A name is similar if it is at most one edit (insert, delete, replace,
** swap two neighbours) away, or one for every three letters, but fewer edits than letters. Ties are
** broken by the longest common prefix, then by alphabetical order. Case is ignored. Names longer
** than 255 bytes are not similar to any other.
*/
void rp_nearest_consider(RpNearest *nearest, const char *name);

#endif

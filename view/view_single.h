/*
 * A page in one file, for `leat view -o`: the page with its style and modules inside, the
 * recordings as base64, and what only leat knows of them.
 *
 *   <link rel="stylesheet" href="page/X.css">          <style>
 *   <script type="module" src="page/X.js"></script>    the same, joined: view_bundle.h
 *   before </body>   #sources        sources.json
 *                    #decoded        {"LINK:HEX": as leat decode --json shows it}, by the link type
 *                                    and the octets of a frame
 *                    #worker         worker.js, joined, for a Blob
 *                    #source-0, -1   recordings, or the JSON of what is told; data-name: names
 *
 * A policy in the head lets a browser run these scripts, by their hashes, and load nothing.
 */
#ifndef VIEW_SINGLE_H
#define VIEW_SINGLE_H

#include "view_file.h"
#include "view_site.h"

enum {
    VIEW_DECODED_MAX = 4096,          /* frames, the first ones that differ */
    VIEW_DECODED_OCTETS_MAX = 1 << 24 /* of their JSON */
};
/* Of one recording: browsers take no longer texts. */
#define VIEW_SINGLE_OCTETS_MAX ((uint64_t)256 << 20)

/* The same recordings give the same octets. False: `why` says what was expected, and what was
 * written is not complete. */
bool view_single_write(const struct view_site *site, const struct view_files *files,
                       struct leat_text *out, struct leat_text *why);

#endif

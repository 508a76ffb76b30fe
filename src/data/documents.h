/* documents.h: text for a language model: files, cut into documents, and held-out parts of them.
 *
 * A path is a file, plain or gz, or a folder of such (no folders within), which are read in the
 * order of their names' bytes. Files are text; or, where a column is named, JSON: an object a line,
 * or one list of objects, told apart by the first character.
 * Invariant: documents keep the order of the files and point into memory that the heed_documents
 * owns.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_DATA_DOCUMENTS_H
#define HEED_DATA_DOCUMENTS_H

#include "data/lines.h"

/* What a document of a text file is: all of it, to the byte; a line that has more than white space;
 * the lines between two that have no more than that. */
typedef enum { HEED_DOCUMENT_FILE, HEED_DOCUMENT_LINE, HEED_DOCUMENT_BLANK } heed_document_cut;

/* Zero is a usable default for all but `path`. */
typedef struct {
    const char *path;
    /* NULL or "": text files (of a folder those that end in .txt or .txt.gz). Else JSON (.json,
     * .jsonl and their .gz), and the member of each object that is a document: a text, or a list of
     * texts, which become its lines. */
    const char *column;
    heed_document_cut cut; /* of text files */
    const char *match;     /* a PCRE2 expression: its matches are the documents; NULL or "": none */
    size_t limit;          /* bytes of a file after unpacking, 0: 8 GiB */
} heed_documents_opts;

typedef struct {
    heed_line text;
    bool held; /* belongs to the held-out part */
} heed_document;

typedef struct {
    const heed_host *host;
    heed_document *item;
    int64_t n;
    size_t cap;
    int64_t files, empty; /* empty: documents without text, left out */
    int64_t unmatched;    /* documents in which `match` found nothing */
    heed_region texts;
    char **file; /* their texts */
    size_t file_cap;
} heed_documents;

/* Failures: HEED_FILE, HEED_TEXT with the line ("'a.txt' line 7: byte 3 of the line (0xe9) is not
 * UTF-8", "'a.jsonl' line 7: ..."), HEED_VALUE for an expression that is none and where no document
 * is found. On failure *d is empty. */
bool heed_documents_read(heed_documents *d, const heed_host *host, const heed_documents_opts *opts,
                         heed_error *err);
void heed_documents_free(heed_documents *d);

/* Holds out a share (0 to 1) of the documents: by a hash of their text, as parallel.h does, so that
 * equal documents stay together; or of the end of the text. With `within` the cut may fall into a
 * document, at the first character behind that share of all bytes, and makes two of it; else a
 * document goes with the part in which it begins. HEED_VALUE where one part has nothing. */
typedef struct {
    double share;
    bool end, within;
} heed_documents_hold;
bool heed_documents_split(heed_documents *d, heed_documents_hold hold, heed_error *err);

/* How many of the held documents stand among the others too, compared as parallel.h's
 * heed_sentence_key has it; `held` NULL: d's own. */
bool heed_documents_seen(const heed_documents *d, const heed_documents *held, int64_t *seen,
                         heed_error *err);

/* documents_json.c, documents_cut.c: inside of documents.c. */
bool heed_documents_add(heed_documents *d, heed_line text, heed_error *err);
bool heed_documents_json(heed_documents *d, const char *path, const char *column, heed_line text,
                         heed_error *err);
/* The matches of the expression in what d has take its place. */
bool heed_documents_match(heed_documents *d, const char *match, heed_error *err);

#endif

/* Completion of command lines. Shells ask leat itself (leat help --complete -- WORD...), so that
 * all of them know the same. */
#ifndef LEAT_COMPLETE_H
#define LEAT_COMPLETE_H

/* Prints what the last of the words behind "leat" may become, one per line; a line ":files" means
 * that it may also be a file. */
void complete(char *const *words, int count);

/* Prints the script for bash, zsh or fish. */
void complete_script(const char *shell);

#endif

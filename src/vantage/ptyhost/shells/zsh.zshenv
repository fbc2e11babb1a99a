# Read by zsh instead of the user's .zshenv, because ZDOTDIR points here: the user's own is read from where it belongs.
@RESTORE_ZDOTDIR@
if [[ @USER_RC@ == 1 && -r ${ZDOTDIR:-$HOME}/.zshenv ]]; then . "${ZDOTDIR:-$HOME}/.zshenv"; fi
# Set again, for .zshrc, which restores the value that the user's file gave to ZDOTDIR.
__vantage_zdotdir=(${ZDOTDIR+"$ZDOTDIR"})
ZDOTDIR=@FOLDER@

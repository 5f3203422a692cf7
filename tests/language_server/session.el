;; What the test of Emacs does in it, by its client eglot: one line of what was seen after each step.

(require 'eglot)
(require 'flymake)
(setq eglot-sync-connect 120 eglot-connect-timeout 120 jsonrpc-default-request-timeout 120)

(defun show (what value) (princ (format "%s: %S\n" what value)))

(defun problems ()
  (eglot--signal-textDocument/didChange)
  (jsonrpc-request (eglot--current-server-or-lose) :concerto/settled nil)
  (mapcar (lambda (each) (car (split-string (flymake-diagnostic-text each) "\n")))
          (flymake-diagnostics)))

(defun go-to (text) (goto-char (point-min)) (search-forward text))

(find-file "main.conc")
(call-interactively #'eglot)
(show "mode" major-mode)
(show "broken" (problems))
(go-to "totl")
(replace-match "total")
(show "mended" (problems))
(go-to "println(tot")
(eglot-hover-eldoc-function
 (lambda (text &rest _) (show "hover" (substring-no-properties text))))
(accept-process-output nil 0)
(let ((found (eglot-completion-at-point)))
  (show "completion" (mapcar #'substring-no-properties (all-completions "tot" (nth 2 found)))))
(eglot-rename "sum")
(show "renamed" (buffer-substring-no-properties (point-min) (point-max)))
(show "after" (problems))
(eglot-shutdown (eglot--current-server-or-lose))

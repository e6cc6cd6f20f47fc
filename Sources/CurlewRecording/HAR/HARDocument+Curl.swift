// SPDX-License-Identifier: MIT

import CurlewCore
package import CurlewHTTP

extension HARDocument.Entry {
    /// Returns the request of the entry as a `curl` command for a POSIX shell: see `HTTPRequest.curlCommand()`.
    ///
    /// A comment above the command states that the body is not in the document. If the request cannot be a command, the
    /// result is a comment with the reason.
    ///
    /// - `redaction`: the secrets to redact. Default `.standard`.
    package func curlCommand(redaction: Redaction = .standard) -> String {
        do {
            let recorded = try request.httpRequest()
            let isMissing = recorded.body.isEmpty && request.bodySize > 0
            let comment = isMissing ? "# The body is omitted (\(request.bodySize) bytes).\n" : ""
            return comment + recorded.curlCommand(redaction: redaction)
        } catch {
            return "# No command: \(error.detail.joinedLines.printable)"
        }
    }
}

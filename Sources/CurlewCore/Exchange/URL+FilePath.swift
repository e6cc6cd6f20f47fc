// SPDX-License-Identifier: MIT

package import CurlewFoundation

extension URL {
    /// Returns the path of a file URL. Throws `.invalidRequest` for any other URL.
    package func filePath() throws(NetworkError) -> String {
        guard isFileURL else {
            throw NetworkError(
                .invalidRequest, detail: "A URL that should name a file has the scheme \(scheme ?? "nothing").",
                hint: "Create it with URL(filePath:).")
        }
        return path
    }
}

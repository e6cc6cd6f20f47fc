// SPDX-License-Identifier: MIT

#if !canImport(SwiftUI)
import Curlew

/// Where there is no SwiftUI, the app is a walk through its screens: what they would show, printed.
@main @MainActor
struct Main {
    static func main() async {
        let paper = Paper()
        do {
            try await Walk(paper).run()
        } catch {
            paper.check("the walk goes on", false, "\(error)")
        }
        paper.finish()
    }
}
#endif

// SPDX-License-Identifier: MIT

#if !canImport(SwiftUI)
import Curlew
import ExampleSupport

/// Where there is no SwiftUI, the app is a walk through its screens: what they would show, printed.
@main @MainActor
struct Main {
    static func main() async {
        let paper = Report()
        paper.opening("FilmClub", "a catalogue of films, on a day when the service has troubles", "")
        do {
            try await Walk(paper).run()
        } catch {
            paper.fail("an error that nothing handles: \(error)")
        }
        paper.finish()
    }
}
#endif

// SPDX-License-Identifier: MIT

#if !canImport(SwiftUI)
import Curlew
import CurlewSampleAPI
import Dispatch
import ExampleSupport

/// The way of a team from a layer of its own to Curlew, each step beside the one before.
@main @MainActor
struct Main {
    static func main() async {
        await Report.run { report, api in
            let visit = Visit(report, url: api.url)
            await visit.oldCaller()
            try await visit.signIn()
            await visit.cancel()
            await visit.executor()
            await visit.newCaller()
            await visit.actions()
        }
    }
}

@MainActor
private struct Visit {
    let report: Report
    let session = Session()
    let journal = Journal()
    let client: APIClient

    init(_ report: Report, url: String) {
        self.report = report
        client = APIClient(baseURL: "\(url)").withActions(session, journal)
        report.opening("LegacyBridge", "from a home-made layer to Curlew, step by step", "service \(url)")
    }

    func oldCaller() async {
        report.title("1. An old caller, unchanged, over the old protocol")
        let screen = ProfileScreen(service: CurlewNetworkService(client: client))
        await withCheckedContinuation { done in screen.appear { done.resume() } }
        report.show("no user signed in", screen.text)
        report.expect(screen.text == "Please sign in", "a 401 is the old layer's \"unauthorized\"")
    }

    func signIn() async throws {
        report.title("2. A typed call with a completion, on the main actor")
        let answer = await withCheckedContinuation { done in
            client.send(LogIn(username: "emilys", password: "emilyspass")) { result in
                MainActor.assertIsolated()
                done.resume(returning: result)
            }
        }
        await session.signIn(try answer.get().accessToken)
        let screen = ProfileScreen(service: CurlewNetworkService(client: client))
        await withCheckedContinuation { done in screen.appear { done.resume() } }
        report.show("the old caller", screen.text)
        report.expect(screen.text == "Emily and Michael", "the token goes with the call that asks for it")
    }

    /// The server would take ten seconds.
    func cancel() async {
        report.title("3. A screen that goes away")
        let screen = ProfileScreen(service: CurlewNetworkService(client: client.with(query: ["delay": 10_000])))
        let start = ContinuousClock.now
        var completions = 0
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            screen.appear {
                completions += 1
                done.resume()
            }
            screen.disappear()
        }
        report.show("completions", "\(completions)")
        report.expect(completions == 1 && screen.text.isEmpty, "a cancelled call completes once, and shows no error")
        report.expect(ContinuousClock.now - start < .seconds(5), "no caller waits for the server")
    }

    func executor() async {
        report.title("4. Completions on a custom queue")
        let queue = DispatchQueue(label: "archive")
        let key = DispatchSpecificKey<String>()
        queue.setSpecific(key: key, value: queue.label)
        let archive = Archive(client: client, executor: .queue(queue))
        typealias Outcome = (place: String?, name: Result<String, NetworkError>)
        let outcome = await withCheckedContinuation { (done: CheckedContinuation<Outcome, Never>) in
            archive.fetchNames(of: 3) { result in
                done.resume(returning: (DispatchQueue.getSpecific(key: key), result))
            }
        }
        report.show("on queue", outcome.place ?? "another one")
        report.show("name", (try? outcome.name.get()) ?? "nobody")
        report.expect(outcome.place == "archive", "the completion ran on the queue")
    }

    func newCaller() async {
        report.title("5. The first caller that awaits")
        let screen = ModernProfileScreen(client: client)
        await screen.load()
        report.show("the new caller", screen.text)
        report.expect(screen.text == "Emily and Michael", "it shows what the old one shows")
    }

    func actions() async {
        report.title("6. What the actions saw")
        let entries = await journal.entries
        report.show("entries", "\(entries.count), the last of them:")
        for entry in entries.suffix(5) { report.show("", entry) }
        report.expect(
            entries.suffix(5) == ["begin currentUser", "token", "status 200", "begin user(_:)", "status 200"],
            "before the request, then the token, then after the response")
    }
}
#endif

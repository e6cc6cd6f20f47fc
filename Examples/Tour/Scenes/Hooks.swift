// SPDX-License-Identifier: MIT

import Curlew

/// What the hooks saw.
private actor Journal {
    private(set) var entries: [String] = []

    func add(_ entry: String) {
        entries.append(entry)
    }
}

struct Hooks: Scene {
    let title = "Hooks"
    let about = "Closures before a request, after a response, and on an error, without a separate type."

    func run(on stage: Stage) async throws {
        let journal = Journal()
        let client = stage.client
            .adding(
                .onRequest { request, context in
                    request.headers[.xRequestID] = "tour-\(context.id)"
                    await journal.add("asked \(request.headers[.xRequestID] ?? "")")
                }
            )
            .adding(
                .onResponse { response, _ in
                    // The sample service repeats the field.
                    await journal.add("answered \(response.headers[.xRequestID] ?? "nothing") \(response.status.code)")
                }
            )
            .adding(
                .onError { error, _ in
                    await journal.add("failed \(error.label)")
                })

        try await client.send(.get("/users/2"))
        let entries = await journal.entries
        let id = entries.first?.split(separator: " ").last ?? ""
        stage.show("journal", entries.joined(separator: ", "))
        stage.expect(
            entries == ["asked \(id)", "answered \(id) 200"], "the field was set on the way out and came back")

        // A port without a listener.
        do {
            try await client.with(baseURL: "http://127.0.0.1:1").send(.get("/", name: "ping"))
            stage.unexpected("a response without a server")
        } catch {
            stage.show(error)
            let last = await journal.entries.last
            stage.expect(last == "failed unreachable", "the error hook heard of it too")
        }

        // Order and problems of a client can be read.
        stage.show("pipeline", client.pipeline)
        stage.expect(client.problems.isEmpty, "the pipeline has no problems")
    }
}

// SPDX-License-Identifier: MIT

#if !canImport(SwiftUI)
import Curlew
import CurlewSampleAPI
import ExampleSupport

/// The store without a screen: the steps of a user, one after the other.
///
///     DummyStore          searches for "phone"
///     DummyStore bird     searches for something else
@main @MainActor
struct Main {
    static func main() async {
        let report = Report()
        do {
            try await visit(report)
        } catch {
            report.fail("an error that nothing handles: \(error)")
        }
        report.finish()
    }

    private static func visit(_ report: Report) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "dummy-store-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        // The service keeps who is signed in, as a real one does: it is stopped and started as well.
        let sessions = folder.appending(path: "service.json").path
        let tokens = folder.appending(path: "tokens.json").path

        var api = try SampleAPI(sessionsPath: sessions)
        let first = Visit(report, url: api.url, tokensPath: tokens)
        report.opening("DummyStore", "a shop behind a login", "service \(api.url)")
        try await first.signIn()
        try await first.renew()
        api.stop()

        api = try SampleAPI(sessionsPath: sessions)
        defer { api.stop() }
        let second = Visit(report, url: api.url, tokensPath: tokens)
        await second.startAgain()
        await second.browse()
        await second.search(CommandLine.arguments.dropFirst().first ?? "phone")
        await second.signOut()
        await second.workOffline()
    }
}

@MainActor
private struct Visit {
    let report: Report
    let client: APIClient
    let tokens: TokenStore
    let account: Account

    /// What a start of the app has: the file of the tokens, and nothing else of the last one.
    init(_ report: Report, url: String, tokensPath: String) {
        self.report = report
        tokens = TokenStore(.file(tokensPath))
        client = APIClient(baseURL: "\(url)", pipeline: .store(tokens))
        account = Account(APIUserService(client: client, tokens: tokens))
    }

    func signIn() async throws {
        report.title("Signing in")
        await account.user.load()
        report.show("nobody", account.user.error?.message ?? "")
        report.expect(account.user.error?.statusCode == 401, "the current user before signing in is a 401")

        await account.signIn(username: "emilys", password: "wrong")
        report.show("wrong password", account.problem ?? "")
        report.expect(account.problem == "Invalid credentials", "the service's own words reach the person")

        await account.signIn(username: "emilys", password: "emilyspass")
        report.show("right password", account.greeting)
        report.show("tokens", try await tokens.tokens.map { "\($0)" } ?? "none")
        report.expect(account.user.value?.id == 1, "the current user is number 1, Emily")
    }

    /// Ten calls meet a token that the service does not take any more. It would end the session if a refresh token came
    /// twice.
    func renew() async throws {
        report.title("Renewing the tokens")
        let old = try await tokens.tokens
        try await tokens.signIn(Tokens(accessToken: "ended", refreshToken: old?.refreshToken))
        let names = try await withThrowingTaskGroup(of: String.self) { [client] group in
            for _ in 0..<10 { group.addTask { try await client.send(GetCurrentUser()).name } }
            var names: [String] = []
            for try await name in group { names.append(name) }
            return names
        }
        let new = try await tokens.tokens
        report.show("answers", "\(names.count) times \(Set(names).joined(separator: " and "))")
        report.expect(
            names.count == 10 && new?.refreshToken != old?.refreshToken,
            "ten calls renewed the tokens once, and went on")
    }

    func startAgain() async {
        report.title("The app is opened again")
        await account.user.load()
        report.show("nobody asked", account.greeting)
        report.expect(account.user.value?.id == 1, "who has signed in is still there, without a password")
    }

    /// A list on a screen reports items that appear; here all of them do.
    func browse() async {
        report.title("Products, page by page")
        let products = Catalogue(client: client).products
        await products.load()
        var pages = 1
        while products.hasMore, products.error == nil {
            await products.loadMore()
            pages += 1
        }
        for product in products.items { show(product) }
        report.expect(products.items.count == 10 && pages == 3, "ten products came in three pages")
    }

    func search(_ text: String) async {
        report.title("Search for \"\(text)\"")
        let catalogue = Catalogue(client: client)
        await catalogue.search(text)
        for product in catalogue.products.items { show(product) }
        report.expect(
            catalogue.products.error == nil
                && catalogue.products.items.allSatisfy {
                    "\($0.title) \($0.description)".lowercased().contains(text.lowercased())
                }, "everything found has the text in it")
    }

    func signOut() async {
        report.title("Signing out")
        await account.signOut()
        report.show("account", account.greeting)
        report.expect(account.user.error?.isUnauthorized == true, "the service no longer knows the user")
    }

    /// The same business code, another service.
    func workOffline() async {
        report.title("Without the server")
        let account = Account(LocalUserService())
        await account.signIn(username: "emilys", password: "emilyspass")
        report.show("account", account.greeting)
        report.expect(account.user.value?.firstName == "Emily", "the account works the same over a local service")
    }

    private func show(_ product: Product) {
        let price = Look.price(product.price).aligned(to: 9)
        report.line(product.title.padded(to: 28) + price + "   \(product.rating) of 5   \(product.category)")
    }
}
#endif

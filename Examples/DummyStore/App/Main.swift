// SPDX-License-Identifier: MIT

import Curlew
import CurlewSampleAPI
import DummyStoreModel
import ExampleSupport

#if !canImport(SwiftUI)
/// The store without a screen: what somebody would do in it, one thing after the other.
///
///     DummyStore          searches for "phone"
///     DummyStore bird     searches for something else
@main @MainActor
struct Main {
    static func main() async {
        await Report.run { report, api in
            let visit = Visit(report, url: api.url)
            try await visit.signIn()
            try await visit.renew()
            await visit.browse()
            await visit.search(CommandLine.arguments.dropFirst().first ?? "phone")
            await visit.signOut()
            await visit.workOffline()
        }
    }
}

@MainActor
private struct Visit {
    let report: Report
    let client: APIClient
    let tokens = TokenStore()
    let account: Account

    init(_ report: Report, url: String) {
        self.report = report
        client = APIClient(baseURL: "\(url)", pipeline: .store(tokens))
        account = Account(APIUserService(client: client, tokens: tokens))
        print("DummyStore, a shop behind a login, at \(url)")
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

    /// A list on a screen tells what appears; here everything does.
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
        report.expect(account.user.error?.isUnauthorized == true, "the service knows nobody any more")
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
        report.show(
            product.title.padded(to: 26), "\(product.price)".padded(to: 8) + "\(product.rating)/5  \(product.category)")
    }
}
#endif

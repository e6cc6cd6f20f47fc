// SPDX-License-Identifier: MIT
// Written against Apple's documentation and type-checked on Linux against stubs (Scripts/apple); not run there.

#if canImport(SwiftUI)
import Curlew
import CurlewSampleAPI
import CurlewTesting
import CurlewUI
import SwiftUI

@main
struct StoreApp: App {
    @State private var shop = Shop()

    var body: some Scene {
        WindowGroup {
            TabView {
                ProductsView(catalogue: shop.catalogue).tabItem { Label("Products", systemImage: "bag") }
                AccountView(account: shop.account, note: shop.note).tabItem { Label("Account", systemImage: "person") }
            }
        }
    }
}

/// What the screens share. Without a server in this process the account is a local one, and its screen is the same.
@MainActor
private final class Shop {
    let account: Account
    let catalogue: Catalogue
    /// What the person should know about signing in.
    let note: String?
    private let api: SampleAPI?

    init() {
        // `swift run` on a Mac makes a program without a signature, which may not use the keychain.
        let mayKeep = KeychainTokens.isAvailable
        let tokens = mayKeep ? TokenStore(.keychain(service: "com.example.dummystore", account: "main")) : TokenStore()
        note = mayKeep ? nil : "This build is not signed, so nothing is kept: sign in again after the next start."
        // The service keeps who is signed in, as a real one does: it ends with the app.
        let file = URL.cachesDirectory.appending(path: "DummyStoreService.json").path
        api = try? SampleAPI(sessionsPath: mayKeep ? file : nil)
        let client = APIClient(baseURL: api.map { "\($0.url)" }, pipeline: .store(tokens))
        account = Account(api == nil ? LocalUserService() : APIUserService(client: client, tokens: tokens))
        catalogue = Catalogue(client: client)
    }
}

private struct ProductsView: View {
    let catalogue: Catalogue
    @State private var text = ""

    var body: some View {
        NavigationStack {
            List {
                ForEach(catalogue.products.items) { product in
                    VStack(alignment: .leading) {
                        Text(product.title).font(.headline)
                        Text("\(product.price.formatted()) · \(product.rating.formatted()) of 5")
                    }
                    .onAppear { catalogue.products.appeared(product) }
                }
                if let error = catalogue.products.error {
                    FailureView(error: error) { await catalogue.products.retry() }
                } else if catalogue.products.isLoading {
                    ProgressView()
                }
            }
            .navigationTitle("Products")
            .searchable(text: $text)
            .refreshable { await catalogue.products.refresh() }
            // Each letter ends the search for the letters before it.
            .task(id: text) { await catalogue.search(text) }
        }
    }
}

private struct AccountView: View {
    let account: Account
    let note: String?
    @State private var username = "emilys"
    @State private var password = ""

    var body: some View {
        Form {
            Text(account.greeting).font(.headline)
            if let user = account.user.value {
                LabeledContent("Email", value: user.email)
                Button("Sign out") { Task { await account.signOut() } }
            } else {
                TextField("User name", text: $username).textContentType(.username).autocorrectionDisabled()
                SecureField("Password", text: $password).textContentType(.password).onSubmit { signIn() }
                Button("Sign in", action: signIn).disabled(username.isEmpty || password.isEmpty)
            }
            if let note { Text(note).font(.footnote) }
            if let problem = account.problem { Text(problem).foregroundStyle(.red) }
        }
        .task { await account.user.load() }
    }

    private func signIn() { Task { await account.signIn(username: username, password: password) } }
}

extension Catalogue {
    /// Products without a server, for previews.
    fileprivate static func preview(
        delay: Duration = .zero, _ answer: @escaping @Sendable () throws -> String
    ) -> Catalogue {
        Catalogue(client: .mock { $0.on(FindProducts.self, delay: delay) { _ in try answer() } })
    }
}

private let lamp = #"""
    {"id": 1, "title": "Lamp", "description": "It shines.", "category": "home", "price": 12.5, "rating": 4.5, "stock": 3}
    """#

#Preview("Products") {
    ProductsView(catalogue: .preview { #"{"products": [\#(lamp)], "total": 1, "skip": 0}"# })
}
#Preview("Nothing found") { ProductsView(catalogue: .preview { #"{"products": [], "total": 0, "skip": 0}"# }) }
#Preview("Loading") { ProductsView(catalogue: .preview(delay: .seconds(3600)) { "" }) }
#Preview("Offline") { ProductsView(catalogue: .preview { throw NetworkError(.unreachable) }) }
#Preview("Account") { AccountView(account: Account(LocalUserService()), note: nil) }
#Preview("Signed in") {
    AccountView(account: Account(LocalUserService(current: LocalUserService.emily.values.first)), note: nil)
}
#endif

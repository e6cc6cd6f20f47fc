// SPDX-License-Identifier: MIT
// Written against Apple's documentation and type-checked on Linux against stubs (Scripts/apple); not run there.

#if canImport(UIKit)
import Curlew
import UIKit

/// A screen as a UIKit app has it, with calls that end in completion handlers: they run on the main actor, once. The
/// screen cancels its call when it goes away.
final class ProfileViewController: UIViewController {
    private let client: APIClient
    private let session: Session
    private let label = UILabel()
    private let progress = UIActivityIndicatorView(style: .medium)
    private var call: APIClient.RequestHandle?

    init(client: APIClient, session: Session) {
        self.client = client
        self.session = session
        super.init(nibName: nil, bundle: nil)
    }

    @available(*, unavailable)
    required init?(coder: NSCoder) { nil }

    override func viewDidLoad() {
        super.viewDidLoad()
        let button = UIButton(
            type: .system, primaryAction: UIAction(title: "Sign in") { [weak self] _ in self?.signIn() })
        let stack = UIStackView(arrangedSubviews: [label, progress, button])
        stack.axis = .vertical
        stack.spacing = 12
        stack.translatesAutoresizingMaskIntoConstraints = false
        view.addSubview(stack)
        NSLayoutConstraint.activate([
            stack.centerXAnchor.constraint(equalTo: view.centerXAnchor),
            stack.centerYAnchor.constraint(equalTo: view.centerYAnchor),
        ])
    }

    override func viewWillAppear(_ animated: Bool) {
        super.viewWillAppear(animated)
        load()
    }

    override func viewDidDisappear(_ animated: Bool) {
        super.viewDidDisappear(animated)
        call?.cancel()
    }

    private func load() {
        progress.startAnimating()
        call = client.send(.currentUser) { [weak self] result in
            self?.progress.stopAnimating()
            switch result {
            case .success(let user): self?.label.text = "\(user.firstName) \(user.lastName)"
            case .failure(let error) where error.isCancelled: break
            case .failure(let error): self?.label.text = error.isUnauthorized ? "Please sign in" : error.message
            }
        }
    }

    private func signIn() {
        progress.startAnimating()
        call = client.send(LogIn(username: "emilys", password: "emilyspass")) { [weak self, session] result in
            switch result {
            case .success(let tokens):
                Task {
                    await session.signIn(tokens.accessToken)
                    self?.load()
                }
            case .failure(let error):
                self?.progress.stopAnimating()
                if !error.isCancelled { self?.label.text = error.message }
            }
        }
    }
}
#endif

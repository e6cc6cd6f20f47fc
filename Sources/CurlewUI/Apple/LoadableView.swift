// SPDX-License-Identifier: MIT
// Written against Apple's documentation and type-checked on Linux against stubs (Scripts/apple); not run there.

#if canImport(SwiftUI)
public import CurlewCore
public import SwiftUI

/// A view of a `Loadable`: shows its value if there is one, otherwise a progress indicator, or the error with a retry
/// button.
///
///     LoadableView(model.user) { user in Text(user.name) }
///
/// The view loads when it appears, and cancels that load when it disappears. After a failure it loads only on the
/// user's request: by the button, or by pulling a list or another scrollable view inside it to refresh. An error that
/// occurs while a value is there is shown above the value, which remains. In a list they are rows; outside a list, put
/// the view into a stack.
@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
public struct LoadableView<Value: Sendable, Content: View>: View {
    private let loadable: Loadable<Value>
    private let content: (Value) -> Content

    /// Creates a view of `loadable`; `content` shows a value.
    public init(_ loadable: Loadable<Value>, @ViewBuilder content: @escaping (Value) -> Content) {
        self.loadable = loadable
        self.content = content
    }

    /// The views for the current state.
    public var body: some View {
        // There is one branch for each part, so that the content keeps its identity, and its refresh continues, while
        // errors appear and disappear. Modifiers of a group apply to each view in it: the task is that of the one view
        // for which there is something to load.
        Group {
            if let error = loadable.error { FailureView(error: error) { await loadable.retry() } }
            if let value = loadable.value { content(value) }
            if loadable.state.isWaiting { ProgressView().task { await loadable.appeared() } }
        }
        .refreshable { [loadable] in await loadable.refresh() }
    }
}

/// A view of an error in its user-facing text, with a retry button.
@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
public struct FailureView: View {
    private let error: NetworkError
    private let retry: @MainActor () async -> Void

    /// Creates a view of `error`.
    public init(error: NetworkError, retry: @escaping @MainActor () async -> Void) {
        self.error = error
        self.retry = retry
    }

    /// The texts and the button.
    public var body: some View {
        VStack(spacing: 8) {
            Text(error.message).font(.headline)
            if let suggestion = error.recoverySuggestion { Text(suggestion).font(.subheadline) }
            Button("Try again") { Task { await retry() } }
        }
        .multilineTextAlignment(.center)
        .padding()
    }
}

@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
extension View {
    /// Presents an alert while `error` is not nil, with the user-facing text of the error. Dismissing it sets `error`
    /// to nil.
    public func alert(_ error: Binding<NetworkError?>) -> some View {
        alert(
            error.wrappedValue?.message ?? "",
            isPresented: Binding(get: { error.wrappedValue != nil }, set: { if !$0 { error.wrappedValue = nil } }),
            presenting: error.wrappedValue
        ) { _ in
            Button("OK", role: .cancel) {}
        } message: { failure in
            Text(failure.recoverySuggestion ?? "")
        }
    }
}
#endif

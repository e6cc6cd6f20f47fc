// SPDX-License-Identifier: MIT
// Written against Apple's documentation and type-checked on Linux against stubs (Scripts/apple); not run there.

#if canImport(SwiftUI)
public import CurlewCore
public import SwiftUI

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
#if canImport(UIKit)
import UIKit
#elseif canImport(AppKit)
import AppKit
#endif

/// An image that is loaded from a URL by a client, with its cache, its limits, and its credentials for their own origin
/// only.
///
///     RemoteImage(url: question.owner.avatar, client: client)
///
/// Safe in reused cells: a new URL cancels the load of the previous one, whose image is never shown for the new URL.
/// Data that is not an image shows nothing.
@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
public struct RemoteImage: View {
    private enum Source {
        case url(String, APIClient)
        case loadable(Loadable<Data>)
    }

    private let source: Source
    @State private var shown: (url: String, image: Image)?

    /// Creates a view of the image at `url`.
    public init(url: String, client: APIClient) {
        source = .url(url, client)
    }

    /// Creates a view of the image that a model loads: `RemoteImage(model.avatar)`. The load begins when the view
    /// appears.
    public init(_ image: Loadable<Data>) {
        source = .loadable(image)
    }

    /// The image, or a placeholder.
    public var body: some View {
        switch source {
        case .url(let url, let client): view(of: url, client)
        case .loadable(let loadable): view(of: loadable)
        }
    }

    private func view(of loadable: Loadable<Data>) -> some View {
        ZStack {
            if let image = loadable.value.flatMap(Self.image) {
                image.resizable()
            } else {
                Color.secondary.opacity(0.15)
            }
        }
        .task { await loadable.appeared() }
    }

    private func view(of url: String, _ client: APIClient) -> some View {
        // A stack rather than a group: the task applies to the whole, not to each image that appears and disappears.
        ZStack {
            if let shown, shown.url == url { shown.image.resizable() } else { Color.secondary.opacity(0.15) }
        }
        .task(id: url) {
            guard shown?.url != url else { return }
            let data = try? await client.send(Request<Data>.get(url: url))
            guard let data, !Task.isCancelled, let image = Self.image(data) else { return }
            shown = (url, image)
        }
    }

    private static func image(_ data: Data) -> Image? {
        #if canImport(UIKit)
        UIImage(data: data).map { Image(uiImage: $0) }
        #elseif canImport(AppKit)
        NSImage(data: data).map { Image(nsImage: $0) }
        #else
        nil
        #endif
    }
}
#endif

// SPDX-License-Identifier: MIT
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// The declarations of swift-service-context 1.2 that the bridge and its tests use, written from its documentation.

public protocol ServiceContextKey: Sendable {
    associatedtype Value: Sendable
}

public struct ServiceContext: Sendable {
    private var values: [ObjectIdentifier: any Sendable] = [:]

    @TaskLocal public static var current: ServiceContext?

    public static var topLevel: ServiceContext { ServiceContext() }

    public subscript<Key: ServiceContextKey>(key: Key.Type) -> Key.Value? {
        get { values[ObjectIdentifier(key)] as? Key.Value }
        set { values[ObjectIdentifier(key)] = newValue }
    }
}

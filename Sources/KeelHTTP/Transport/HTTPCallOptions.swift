/// A wish that a single call can have, and what holds for calls that say nothing.
///
/// Each layer defines the keys that it understands, also layers outside of this module:
///
/// ```swift
/// enum PriorityKey: HTTPCallOptionKey { static var defaultValue: Int { 0 } }
///
/// extension HTTPCallOptions {
///     var priority: Int {
///         get { self[PriorityKey.self] }
///         set { self[PriorityKey.self] = newValue }
///     }
/// }
/// ```
public protocol HTTPCallOptionKey {
    /// What the option holds.
    associatedtype Value: Sendable

    /// What a call has that says nothing.
    static var defaultValue: Value { get }
}

/// What one call asks of the layers it passes.
public struct HTTPCallOptions: Sendable {
    // Nil in nearly all calls, which then cost no allocation.
    private var values: [ObjectIdentifier: any Sendable]?

    /// Creates a set of options that says nothing.
    public init() {}

    /// The value for a key, or the key's default.
    public subscript<Key: HTTPCallOptionKey>(key: Key.Type) -> Key.Value {
        get { values?[ObjectIdentifier(key)] as? Key.Value ?? Key.defaultValue }
        set { values = (values ?? [:]).merging([ObjectIdentifier(key): newValue]) { $1 } }
    }

    /// Takes over everything that `other` says.
    public mutating func merge(_ other: HTTPCallOptions) {
        guard let more = other.values else { return }
        values = (values ?? [:]).merging(more) { $1 }
    }
}

extension HTTPCallOptions {
    private enum IdempotenceKey: HTTPCallOptionKey {
        static var defaultValue: Bool? { nil }
    }

    /// Whether sending the request twice has the effect of sending it once.
    ///
    /// Nil goes by the method and by the `Idempotency-Key` field; see ``HTTPCall/isIdempotent``.
    public var isIdempotent: Bool? {
        get { self[IdempotenceKey.self] }
        set { self[IdempotenceKey.self] = newValue }
    }
}

extension HTTPCallOptions {
    private enum NewConnectionKey: HTTPCallOptionKey {
        static var defaultValue: Bool { false }
    }

    /// Whether the exchange should not use a connection that has carried another one.
    ///
    /// A layer sets it where the connection of the attempt before was the fault (status 421, a
    /// connection that had gone stale). A transport that cannot choose ignores it.
    public var prefersNewConnection: Bool {
        get { self[NewConnectionKey.self] }
        set { self[NewConnectionKey.self] = newValue }
    }
}

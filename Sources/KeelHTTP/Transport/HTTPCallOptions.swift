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
public protocol HTTPCallOptionKey: SendableMetatype {
    /// The type of the option's value.
    associatedtype Value: Sendable

    /// The value of a call that says nothing.
    static var defaultValue: Value { get }

    /// A key by which calls with different values are told apart where identical calls share a
    /// response; nil if a call with this value must not share any.
    ///
    /// Where the value is `Hashable`, it is the value itself, and otherwise nil, so that no option
    /// is forgotten. Return a constant for one that does not change what the call is answered with.
    static func sharingKey(of value: Value) -> AnyHashable?
}

extension HTTPCallOptionKey {
    public static func sharingKey(of value: Value) -> AnyHashable? { nil }
}

extension HTTPCallOptionKey where Value: Hashable {
    public static func sharingKey(of value: Value) -> AnyHashable? { AnyHashable(value) }
}

extension HTTPCallOptionKey {
    /// The part of ``HTTPCallOptions/sharingKeys()`` of one option; empty for the default.
    fileprivate static func sharing(_ value: any Sendable) -> [ObjectIdentifier: AnyHashable]? {
        guard let value = value as? Value, let key = sharingKey(of: value) else { return nil }
        return key == sharingKey(of: defaultValue) ? [:] : [ObjectIdentifier(self): key]
    }
}

/// The options of one call for the layers it passes.
public struct HTTPCallOptions: Sendable {
    // Nil in nearly all calls, which then cost no allocation.
    private var values: [ObjectIdentifier: Entry]?

    private struct Entry: Sendable {
        let key: any HTTPCallOptionKey.Type
        let value: any Sendable
    }

    /// Creates a set of options that says nothing.
    public init() {}

    /// The value for a key, or the key's default.
    public subscript<Key: HTTPCallOptionKey>(key: Key.Type) -> Key.Value {
        get { values?[ObjectIdentifier(key)]?.value as? Key.Value ?? Key.defaultValue }
        set {
            let entry = Entry(key: key, value: newValue)
            values = (values ?? [:]).merging([ObjectIdentifier(key): entry]) { $1 }
        }
    }

    /// Takes over everything that `other` says.
    public mutating func merge(_ other: HTTPCallOptions) {
        guard let more = other.values else { return }
        values = values?.merging(more) { $1 } ?? more
    }

    /// What tells this call apart from others that ask for the same; nil if it must not share a
    /// response.
    package func sharingKeys() -> [ObjectIdentifier: AnyHashable]? {
        var keys: [ObjectIdentifier: AnyHashable] = [:]
        for entry in (values ?? [:]).values {
            guard let more = entry.key.sharing(entry.value) else { return nil }
            keys.merge(more) { $1 }
        }
        return keys
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

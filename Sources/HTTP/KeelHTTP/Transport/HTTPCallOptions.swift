/// The key of an option that a single call can set, with its default value.
///
/// Each layer, including those of other modules, defines the keys that it understands:
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

    /// The value for calls that do not set the option.
    static var defaultValue: Value { get }

    /// Returns the option's part of the key under which identical calls share a response; nil prevents sharing.
    ///
    /// The default is the value if it is `Hashable`, and nil otherwise. Return a constant for an option that does not
    /// affect the response.
    static func sharingKey(of value: Value) -> AnyHashable?
}

extension HTTPCallOptionKey {
    public static func sharingKey(of value: Value) -> AnyHashable? { nil }
}

extension HTTPCallOptionKey where Value: Hashable {
    public static func sharingKey(of value: Value) -> AnyHashable? { AnyHashable(value) }
}

extension HTTPCallOptionKey {
    /// Returns this option's part of ``HTTPCallOptions/sharingKeys()``; empty for the default value.
    fileprivate static func sharing(_ value: any Sendable) -> [ObjectIdentifier: AnyHashable]? {
        guard let value = value as? Value, let key = sharingKey(of: value) else { return nil }
        return key == sharingKey(of: defaultValue) ? [:] : [ObjectIdentifier(self): key]
    }
}

/// The options of one call for the layers it passes.
public struct HTTPCallOptions: Sendable {
    // Nil in nearly all calls, which avoids an allocation.
    private var values: [ObjectIdentifier: Entry]?

    private struct Entry: Sendable {
        let key: any HTTPCallOptionKey.Type
        let value: any Sendable
    }

    /// Creates an empty set of options.
    public init() {}

    /// The value for a key, or the key's default.
    public subscript<Key: HTTPCallOptionKey>(key: Key.Type) -> Key.Value {
        get {
            // Casting nil would cost more than all else here, and a call reads about ten options.
            guard let entry = values?[ObjectIdentifier(key)] else { return Key.defaultValue }
            return entry.value as? Key.Value ?? Key.defaultValue
        }
        set {
            let entry = Entry(key: key, value: newValue)
            values = (values ?? [:]).merging([ObjectIdentifier(key): entry]) { $1 }
        }
    }

    /// Adopts every option that `other` sets.
    public mutating func merge(_ other: HTTPCallOptions) {
        guard let more = other.values else { return }
        values = values?.merging(more) { $1 } ?? more
    }

    /// Returns the options that distinguish this call from identical ones; nil if it must not share a response.
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

    /// Whether sending the request twice has the same effect as sending it once.
    ///
    /// Nil, the default, decides by the method and the `Idempotency-Key` field; see ``HTTPCall/isIdempotent``.
    public var isIdempotent: Bool? {
        get { self[IdempotenceKey.self] }
        set { self[IdempotenceKey.self] = newValue }
    }
}

extension HTTPCallOptions {
    private enum NewConnectionKey: HTTPCallOptionKey {
        static var defaultValue: Bool { false }
    }

    /// Whether the exchange should use a new connection.
    ///
    /// Set for an attempt that follows a failure of the connection: a stale connection, a silent one, or status 421.
    /// `AsyncHTTPClientTransport` honors it; URLSession cannot choose the connection.
    public var prefersNewConnection: Bool {
        get { self[NewConnectionKey.self] }
        set { self[NewConnectionKey.self] = newValue }
    }
}

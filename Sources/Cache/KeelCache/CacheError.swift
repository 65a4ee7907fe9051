public import KeelCore

/// A failure of a cache or of its tier.
///
/// A damaged entry is not an error but a miss, which ``CacheTierUsage/damagedCount`` counts.
public struct CacheError: KeelError {
    public let code: Code
    public let message: String
    public let cause: (any Error)?

    /// Creates an error, for a custom tier; the message is one sentence, without keys or values.
    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }
}

extension CacheError {
    /// A kind of cache failure; later versions may add more.
    public struct Code: KeelErrorCode {
        public let kind: ErrorKind
        public var name: String { kind.name }
        public var isTransient: Bool { kind.isTransient }
        public var advice: String { kind.advice }

        public init(kind: ErrorKind) { self.kind = kind }
    }
}

extension CacheError.Code {
    /// Another tier, in this process or another, has the folder open.
    public static var folderInUse: Self {
        .permanent("Share one CacheStore between its users, or give each its own folder.")
    }
    /// A limit, key or tag exceeds its bounds, or a large value was already finished or discarded.
    public static var invalidArgument: Self {
        .permanent("Correct the call as the message describes; an identical call fails again.")
    }
    /// A key or value could not be encoded.
    public static var encodingFailed: Self {
        .permanent("Change the value or its Encodable conformance as the message describes.")
    }
    /// The stored bytes do not decode as the requested type.
    public static var decodingFailed: Self {
        .permanent("Give the cache a new name or version when the type of its values changes.")
    }
    /// A large value does not fit within the tier's limit.
    public static var tooLarge: Self {
        .permanent("Raise the limit, or keep values of this size as files.")
    }
    /// The program has no permission to read or write the folder or a file in it.
    public static var permissionDenied: Self {
        .permanent("Make the cache's folder readable and writable for the program's user.")
    }
    /// The disk is full.
    public static var diskFull: Self {
        .permanent("Free disk space or lower the limit; existing entries are intact.")
    }
    /// A piece of a large value is damaged.
    public static var damaged: Self {
        .permanent("Load the value again; if the error recurs, check the disk.")
    }
    /// An entry, key or tag could not be sealed or hashed, for example because the keyset lacks a key.
    public static var sealingFailed: Self {
        .permanent("Check the keyset of the cache's ByteSealing; see the cause for details.")
    }
    /// The value is not in the cache, and the call's policy forbids loading it.
    public static var notCached: Self {
        .permanent("Load the value with a policy that allows loading.")
    }
    /// Loading exceeded the policy's hard timeout.
    public static var timeout: Self {
        .transient("Try again, allow more time, or allow a stale value in the meantime.")
    }
    /// The tier is closed or unreachable, or its folder was removed or failed.
    public static var unavailable: Self {
        .transient("Open the cache again; memory above a closed tier keeps working.")
    }
    /// The call was canceled.
    public static var cancelled: Self {
        .permanent("Nothing to do: the caller stopped waiting for the result.")
    }
    /// A failure that the tier could not classify; see ``CacheError/cause``.
    public static var unknown: Self {
        .permanent("Check the cause, and report it as a missing classification.")
    }

    public static let known: [Self] = [
        .folderInUse, .invalidArgument, .encodingFailed, .decodingFailed, .tooLarge,
        .permissionDenied, .diskFull, .damaged, .sealingFailed, .notCached, .timeout,
        .unavailable, .cancelled, .unknown,
    ]
}

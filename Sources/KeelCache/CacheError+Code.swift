public import KeelCore

extension CacheError {
    /// A kind of cache failure; later versions may add more.
    public struct Code: KeelErrorCode {
        public let name: String
        public let isTransient: Bool
        public let advice: String

        /// Creates a code, for a custom tier whose failure none of the codes here describes.
        public init(name: String, isTransient: Bool = false, advice: String) {
            self.name = name
            self.isTransient = isTransient
            self.advice = advice
        }

        public static func == (left: Self, right: Self) -> Bool { left.name == right.name }
        public func hash(into hasher: inout Hasher) { hasher.combine(name) }
    }
}

extension CacheError.Code {
    /// Another cache, in this process or another, has the folder open.
    public static let folderInUse = Self(
        name: "folderInUse",
        advice: "Share one CacheStore between its users, or give each its own folder."
    )
    /// A limit, name or policy is out of range.
    public static let invalidArgument = Self(
        name: "invalidArgument",
        advice: "Correct the call as the message describes; an identical call fails again."
    )
    /// A key or value could not be encoded.
    public static let encodingFailed = Self(
        name: "encodingFailed",
        advice: "Change the value or its Encodable conformance as the message describes."
    )
    /// The stored bytes do not decode as the requested type.
    public static let decodingFailed = Self(
        name: "decodingFailed",
        advice: "Give the cache a new name or version when the type of its values changes."
    )
    /// The entry exceeds the tier's limit.
    public static let tooLarge = Self(
        name: "tooLarge",
        advice: "Raise the limit, or keep values of this size as files."
    )
    /// The folder or a file in it cannot be read or written for lack of permission.
    public static let permissionDenied = Self(
        name: "permissionDenied",
        advice: "Make the cache's folder readable and writable for the program's user."
    )
    /// The disk is full.
    public static let diskFull = Self(
        name: "diskFull",
        advice: "Free disk space or lower the limit; existing entries are intact."
    )
    /// A piece of a large value is damaged; a damaged entry is a miss instead.
    public static let damaged = Self(
        name: "damaged",
        advice: "Load the value again; if the error recurs, check the disk."
    )
    /// An entry or key could not be sealed or hashed, for example because the keyset lacks a key.
    public static let sealingFailed = Self(
        name: "sealingFailed",
        advice: "Check the keyset of the cache's ByteSealing; see the cause for details."
    )
    /// The value is not in the cache, and the call's policy forbids loading it.
    public static let notCached = Self(
        name: "notCached",
        advice: "Load the value with a policy that allows loading."
    )
    /// Loading exceeded the policy's hard timeout.
    public static let timeout = Self(
        name: "timeout",
        isTransient: true,
        advice: "Try again, allow more time, or allow a stale value in the meantime."
    )
    /// The tier is closed or temporarily unreachable.
    public static let unavailable = Self(
        name: "unavailable",
        isTransient: true,
        advice: "Open the cache again; memory above a closed tier keeps working."
    )
    /// The call was canceled.
    public static let cancelled = Self(
        name: "cancelled",
        advice: "Nothing to do: the caller stopped waiting for the result."
    )
    /// A failure that the tier could not classify; see ``CacheError/cause``.
    public static let unknown = Self(
        name: "unknown",
        advice: "Check the cause, and report it as a missing classification."
    )

    public static let known: [Self] = [
        .folderInUse, .invalidArgument, .encodingFailed, .decodingFailed, .tooLarge,
        .permissionDenied, .diskFull, .damaged, .sealingFailed, .notCached, .timeout,
        .unavailable, .cancelled, .unknown,
    ]
}

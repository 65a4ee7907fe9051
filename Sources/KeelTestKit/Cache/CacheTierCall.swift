public import KeelCache

/// One call of a cache tier, with its arguments.
public enum CacheTierCall: Sendable {
    /// The kinds of call.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A record was asked for.
        case read
        /// Records were handed over.
        case write
        /// Records were to be forgotten.
        case remove
        /// What was written was to be made lasting.
        case flush
        /// A file for a large value was begun.
        case makeFile
        /// Counts were asked for.
        case usage
    }

    /// `read(_:)`
    case read([UInt8])
    /// `write(_:)`
    case write([CacheRecord])
    /// `remove(_:)`
    case remove(CacheSelection)
    /// `flush()`
    case flush
    /// `makeFile()`
    case makeFile
    /// `usage()`
    case usage

    /// The kind of call.
    public var kind: Kind {
        switch self {
        case .read: .read
        case .write: .write
        case .remove: .remove
        case .flush: .flush
        case .makeFile: .makeFile
        case .usage: .usage
        }
    }
}

public import KeelCache

/// A call to a cache tier, with its arguments.
public enum CacheTierCall: Sendable {
    /// The kinds of call.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A record was requested.
        case read
        /// Records were written.
        case write
        /// Records were removed.
        case remove
        /// Writes were flushed.
        case flush
        /// A file for a large value was opened for writing.
        case makeFile
        /// Usage counts were requested.
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

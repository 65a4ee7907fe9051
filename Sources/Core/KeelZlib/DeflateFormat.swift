internal import CKeelZlib

/// A format that zlib reads and writes.
package enum DeflateFormat: Sendable {
    /// RFC 1952.
    case gzip
    /// RFC 1950, the meaning of `deflate` in HTTP (RFC 9110 section 8.4.1.2).
    case zlib
    /// RFC 1951, which some servers send as `deflate`.
    case raw

    /// zlib's parameter for the format, with the largest window.
    var windowBits: Int32 {
        switch self {
        case .gzip: MAX_WBITS + 16
        case .zlib: MAX_WBITS
        case .raw: -MAX_WBITS
        }
    }
}

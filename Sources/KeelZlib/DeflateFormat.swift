internal import CKeelZlib

/// The formats that zlib reads and writes.
package enum DeflateFormat: Sendable {
    /// RFC 1952.
    case gzip
    /// RFC 1950; this is what `deflate` means in HTTP (RFC 9110 section 8.4.1.2).
    case zlib
    /// RFC 1951; what some servers send for `deflate` all the same.
    case raw

    /// The parameter by which zlib knows the format, for the largest window.
    var windowBits: Int32 {
        switch self {
        case .gzip: MAX_WBITS + 16
        case .zlib: MAX_WBITS
        case .raw: -MAX_WBITS
        }
    }
}

import Foundation

/// Compressed texts, made with Python's modules gzip and zlib, in base64.
enum CompressedVectors {
    /// The text of all vectors but ``zlibStored`` and ``gzipEmpty``.
    static let text =
        Array(String(repeating: "Fish & Chips, ", count: 20).utf8) + Array("the end.".utf8)

    static let gzip = bytes("H4sIAAAAAAACA3PLLM5QUFNwzsgsKNZRcBvlQXklGakKqXkpegBkxnRpIAEAAA==")
    static let gzipWithName = bytes(
        "H4sICAEAAAAC/21lbnUudHh0AHPLLM5QUFNwzsgsKNZRcBvlQXklGakKqXkpegBkxnRpIAEAAA=="
    )
    static let gzipMembers = bytes(
        "H4sIAAAAAAACA3PLLM5QUFNwzsgsKNZRcKMJDwBMOpIEZAAAAB+LCAAAAAAAAgMDAAAAAAAAAAAAH4sIAAAA"
            + "AAACAyvOUFBTcM7ILCjWUXDLLB4SvJKMVIXUvBQ9ACzV8C68AAAA"
    )
    static let zlib = bytes("eJxzyyzOUFBTcM7ILCjWUXAb5UF5JRmpCql5KXoA3N5Www==")
    static let raw = bytes("c8sszlBQU3DOyCwo1lFwG+VBeSUZqQqpeSl6AA==")
    static let zlibStored = bytes("eAEBBgD5/3N0b3JlZAk8ApI=")
    static let gzipEmpty = bytes("H4sIAAAAAAACAwMAAAAAAAAAAAA=")
    static let gzipOfGzip = bytes(
        "H4sIAAAAAAACA5Pv5mAAASbm4tM65wICggvOndDRuBZYIP3UsVJVciXXykrNKoaUYyWZCowMDACxIbBWLgAA"
            + "AA=="
    )

    private static func bytes(_ base64: String) -> [UInt8] {
        Data(base64Encoded: base64).map { [UInt8]($0) } ?? []
    }
}

#if Crypto
internal import HTTPTypes
internal import KeelCore
internal import KeelFiles
internal import KeelHTTP

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Conversions of an object's properties from fields of replies and entries of listings.
enum S3Object {
    static func metadata(
        of path: FileStorePath,
        _ fields: HTTPFields
    ) throws(S3Failure) -> FileMetadata {
        guard
            let size = ContentRange.part(in: fields)?.size
                ?? fields[.contentLength].flatMap({ Int($0) }), size >= 0,
            let tag = fields.first("etag"),
            let modified = fields.first("last-modified").flatMap({ HTTPDate($0)?.seconds })
        else {
            throw .failed(.invalidReply("it lacks the size, the entity tag or the time"))
        }
        return FileMetadata(
            FileSummary(
                path: path,
                size: size,
                modified: Date(timeIntervalSince1970: TimeInterval(modified)),
                version: version(tag)
            ),
            contentType: fields.first("content-type") ?? ContentTypes.unknown,
            attributes: S3Attributes.attributes(in: fields),
            checksum: checksum(in: fields)
        )
    }

    /// Returns the version of an entity tag, without quotes: some servers quote it in fields but not in listings.
    static func version(_ tag: String) -> FileVersion {
        FileVersion(String(tag.drop { $0 == "\"" }.reversed().drop { $0 == "\"" }.reversed()))
    }

    static func ifMatch(_ version: FileVersion) -> (name: String, value: String) {
        (name: "if-match", value: "\"\(version.string)\"")
    }

    /// Returns the time of a listing entry in whole seconds, the precision of fields.
    static func time(_ text: String?) -> Date? {
        text.flatMap { InternetTime.microseconds(of: $0) }
            .map { Date(timeIntervalSince1970: TimeInterval($0 / 1_000_000)) }
    }

    /// Returns the content codings of a stored object that a client may decode, or nil if there are none.
    ///
    /// `aws-chunked` frames the body of a signed upload. S3 removes it, but some servers still report it.
    static func coding(in fields: HTTPFields) -> String? {
        guard let value = fields[.contentEncoding] else { return nil }
        // Names of codings are case-insensitive (RFC 9110, section 8.4.1).
        let names = value.lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }
        let others = names.filter { $0 != "identity" && $0 != "aws-chunked" }
        return others.isEmpty ? nil : others.joined(separator: ", ")
    }

    // MARK: Checksums

    static func field(of algorithm: FileChecksum.Algorithm) -> String {
        "x-amz-checksum-" + algorithm.rawValue
    }

    static func name(of algorithm: FileChecksum.Algorithm) -> String {
        algorithm.rawValue.uppercased()
    }

    static func text(of checksum: FileChecksum) -> String {
        Data(checksum.bytes).base64EncodedString()
    }

    static func checksum(_ text: String, by algorithm: FileChecksum.Algorithm) -> FileChecksum? {
        Data(base64Encoded: text).flatMap { try? FileChecksum(algorithm, bytes: Array($0)) }
    }

    /// Returns the checksum of all bytes of an object; a `COMPOSITE` one covers the checksums of the parts, and is
    /// ignored.
    static func checksum(in fields: HTTPFields) -> FileChecksum? {
        guard fields.first("x-amz-checksum-type") != "COMPOSITE" else { return nil }
        for algorithm in FileChecksum.Algorithm.allCases {
            guard let text = fields.first(field(of: algorithm)) else { continue }
            return checksum(text, by: algorithm)
        }
        return nil
    }
}

extension ContentRange {
    static func part(in fields: HTTPFields) -> (bytes: Range<Int>, size: Int)? {
        let range = fields[.contentRange].flatMap { ContentRange($0) }
        guard let positions = range?.positions, let size = range?.total else { return nil }
        return (Int(positions.lowerBound)..<Int(positions.upperBound) + 1, Int(size))
    }
}
#endif

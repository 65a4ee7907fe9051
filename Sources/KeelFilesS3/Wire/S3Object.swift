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

/// What is said of an object in the fields of replies, and in lists.
enum S3Object {
    /// The metadata in the fields of a reply.
    static func metadata(
        of path: FileStorePath,
        _ fields: HTTPFields
    ) throws(S3Failure) -> FileMetadata {
        let range = fields.first("content-range").flatMap(ContentRange.init)
        guard let size = range?.size ?? fields[.contentLength].flatMap({ Int($0) }), size >= 0,
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

    /// The version that an entity tag is: some servers quote it in fields and not in lists.
    static func version(_ tag: String) -> FileVersion {
        FileVersion(String(tag.drop { $0 == "\"" }.reversed().drop { $0 == "\"" }.reversed()))
    }

    /// The field that asks for a version.
    static func ifMatch(_ version: FileVersion) -> (name: String, value: String) {
        (name: "if-match", value: "\"\(version.string)\"")
    }

    /// A time of a list, in whole seconds, as fields have it.
    static func time(_ text: String?) -> Date? {
        text.flatMap { InternetTime.microseconds(of: $0) }
            .map { Date(timeIntervalSince1970: TimeInterval($0 / 1_000_000)) }
    }

    /// The content codings of a stored object that a client may decode; nil if there are none.
    ///
    /// `aws-chunked` frames the body of a signed upload. S3 removes it, and some servers still name it.
    static func coding(in fields: HTTPFields) -> String? {
        guard let value = fields[.contentEncoding] else { return nil }
        // Names of codings have no case (RFC 9110, section 8.4.1).
        let names = value.lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }
        let others = names.filter { $0 != "identity" && $0 != "aws-chunked" }
        return others.isEmpty ? nil : others.joined(separator: ", ")
    }

    // MARK: Checksums

    /// The field of a checksum, such as `x-amz-checksum-crc32c`.
    static func field(of algorithm: FileChecksum.Algorithm) -> String {
        "x-amz-checksum-" + algorithm.rawValue
    }

    /// The algorithm in the words of S3.
    static func name(of algorithm: FileChecksum.Algorithm) -> String {
        algorithm.rawValue.uppercased()
    }

    static func text(of checksum: FileChecksum) -> String {
        Data(checksum.bytes).base64EncodedString()
    }

    /// A checksum as S3 writes it; nil for anything else.
    static func checksum(_ text: String, by algorithm: FileChecksum.Algorithm) -> FileChecksum? {
        Data(base64Encoded: text).flatMap { try? FileChecksum(algorithm, bytes: Array($0)) }
    }

    /// A checksum of all bytes of an object.
    ///
    /// One of the checksums of parts, `COMPOSITE`, is none.
    static func checksum(in fields: HTTPFields) -> FileChecksum? {
        guard fields.first("x-amz-checksum-type") != "COMPOSITE" else { return nil }
        for algorithm in FileChecksum.Algorithm.allCases {
            guard let text = fields.first(field(of: algorithm)) else { continue }
            return checksum(text, by: algorithm)
        }
        return nil
    }
}

/// The field `Content-Range` of a part of an object (RFC 9110, section 14.4).
struct ContentRange: Hashable, Sendable {
    let bytes: Range<Int>
    let size: Int

    init?(_ text: String) {
        guard text.hasPrefix("bytes ") else { return nil }
        let parts = text.dropFirst(6).split(separator: "/")
        guard parts.count == 2, let size = Int(parts[1]) else { return nil }
        let ends = parts[0].split(separator: "-").map { Int($0) }
        guard ends.count == 2, let first = ends[0], let last = ends[1], first >= 0, first <= last,
            last < size
        else { return nil }
        bytes = first..<last + 1
        self.size = size
    }
}
#endif

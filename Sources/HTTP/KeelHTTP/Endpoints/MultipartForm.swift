#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A form of several parts, such as fields and files (`multipart/form-data`, RFC 7578).
///
/// ```swift
/// let form = MultipartForm([
///     .text("title", "Holidays"),
///     .json("tags", ["sea", "sun"]),
///     .file("photo", at: photoURL, contentType: "image/jpeg"),
/// ])
/// let album = try await client.upload(.multipart(form), to: AddAlbum())
/// ```
///
/// Files are read while they are sent. The body has a known length if every part has one, and is replayable if every
/// part is. Names and file names are written as browsers do (WHATWG HTML, "multipart/form-data encoding algorithm"): in
/// UTF-8, a quotation mark as `%22`, line ends as `%0D` and `%0A`.
public struct MultipartForm: Sendable {
    /// The parts in the order in which they are sent; a name can occur more than once.
    public let parts: [Part]

    /// The text between the parts.
    public let boundary: String

    let isBoundaryGiven: Bool

    /// Creates a form with a random boundary, which occurs in no part whose bytes are in memory.
    public init(_ parts: [Part]) {
        var generator = SystemRandomNumberGenerator()
        self.init(parts, using: &generator)
    }

    /// Creates a form with a random boundary from `generator`.
    public init(_ parts: [Part], using generator: inout some RandomNumberGenerator) {
        var boundary = Self.randomBoundary(using: &generator)
        while Self.contains(parts, boundary) {
            boundary = Self.randomBoundary(using: &generator)
        }
        self.parts = parts
        self.boundary = boundary
        isBoundaryGiven = false
    }

    /// Creates a form with your own boundary.
    ///
    /// A call that sends the form fails with ``NetworkError/Code/encoding`` if the boundary does not conform to RFC
    /// 2046 (1 to 70 characters) or occurs in a part that is in memory.
    public init(_ parts: [Part], boundary: String) {
        self.parts = parts
        self.boundary = boundary
        isBoundaryGiven = true
    }

    private static func randomBoundary(using generator: inout some RandomNumberGenerator) -> String
    {
        let characters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
        // 24 of 62 characters are 142 bits, which no content matches by chance.
        let random = (0..<24).compactMap { _ in characters.randomElement(using: &generator) }
        return "KeelFormBoundary" + String(random)
    }

    private static func contains(_ parts: [Part], _ boundary: String) -> Bool {
        parts.contains { part in
            guard let bytes = part.content.knownBytes else { return false }
            return MultipartEncoder.contains(boundary, in: bytes)
        }
    }
}

extension MultipartForm {
    /// One field or file of a form.
    public struct Part: Sendable {
        /// The field's name.
        public var name: String

        /// The file's name; nil for a field that is not a file.
        public var filename: String?

        /// The media type, without control characters; nil sends none, which means text.
        public var contentType: String?

        let content: Content

        enum Content: Sendable {
            case bytes([UInt8])
            case value(@Sendable (any BodyCoding) throws -> [UInt8])
            case file(URL)
            case stream(HTTPBody)

            /// The bytes, unless they are encoded, read or produced later.
            var knownBytes: [UInt8]? {
                switch self {
                case .bytes(let bytes): bytes
                case .stream(let body): body.bytes
                case .value, .file: nil
                }
            }
        }

        /// Creates a field with a text, a number or another value with a lossless description.
        public static func text(_ name: String, _ value: some LosslessStringConvertible) -> Part {
            Part(name: name, content: .bytes(Array(value.description.utf8)))
        }

        /// Creates a field with a value as JSON, encoded like ``RequestBody/json(_:)``.
        public static func json(_ name: String, _ value: some Encodable & Sendable) -> Part {
            let content = Content.value { coding in try coding.encode(value) }
            return Part(name: name, contentType: "application/json", content: content)
        }

        /// Creates a field or file with these bytes.
        public static func bytes(
            _ name: String,
            _ bytes: some Sequence<UInt8>,
            filename: String? = nil,
            contentType: String? = "application/octet-stream"
        ) -> Part {
            Part(
                name: name,
                filename: filename,
                contentType: contentType,
                content: .bytes(Array(bytes))
            )
        }

        /// Creates a part from a file that is read from disk while it is sent, see ``HTTPBody/file(_:)``.
        ///
        /// A nil `filename` sends the file's own name.
        public static func file(
            _ name: String,
            at url: URL,
            filename: String? = nil,
            contentType: String = "application/octet-stream"
        ) -> Part {
            Part(
                name: name,
                filename: filename ?? url.lastPathComponent,
                contentType: contentType,
                content: .file(url)
            )
        }

        /// Creates a field or file that is produced while it is sent.
        public static func stream(
            _ name: String,
            _ body: HTTPBody,
            filename: String? = nil,
            contentType: String? = "application/octet-stream"
        ) -> Part {
            Part(
                name: name,
                filename: filename,
                contentType: contentType,
                content: .stream(body)
            )
        }
    }
}

/// The reason why a form could not be encoded, the cause of a ``NetworkError/Code/encoding``.
public struct MultipartFormError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The flaw of the form; it names a part, never a value.
    public let description: String
}

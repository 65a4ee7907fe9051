internal import KeelCore
public import KeelStorageAdapting

/// Documents and values as JSON text (RFC 8259), for files and for tools.
///
/// The **typed** form is that of Firestore's REST protocol (`Document` and `Value` in its reference, version v1): every
/// value names its type, and the conversion is lossless. The **plain** form is suitable for writing by hand, and loses
/// the type of some values:
///
/// | value | plain JSON |
/// |---|---|
/// | null, boolean, string, array, map | the same |
/// | integer | a number without fraction and exponent |
/// | double | a number with a fraction or an exponent; `"NaN"`, `"Infinity"`, `"-Infinity"` |
/// | timestamp | text of RFC 3339, in UTC |
/// | bytes | Base64 (RFC 4648) |
/// | reference | the path as text |
/// | geopoint | an object of `latitude` and `longitude` |
/// | vector | an array of doubles |
///
/// Decoding plain JSON gives only null, booleans, numbers, strings, arrays and maps.
public enum DocumentJSON: Sendable {
    /// The default database in the names of documents.
    public static let database = "projects/keel/databases/(default)"

    /// Returns a document in the typed form, with its times and, as `keel`, its revision.
    ///
    /// - Throws: `StorageError/Code/corrupted` if the document's body cannot be decoded.
    public static func typed(
        _ document: Document,
        database: String = DocumentJSON.database
    ) throws(StorageError) -> [UInt8] {
        try FirestoreEncoding(database: database, isExtended: true).document(document).bytes
    }

    /// Returns a value in the typed form: an object whose only member names the type.
    public static func typed(_ value: DocumentValue) -> [UInt8] {
        FirestoreEncoding(database: database).value(value).bytes
    }

    /// Returns a value in the plain form.
    public static func plain(_ value: DocumentValue) -> [UInt8] {
        FirestoreJSON(plain: value).bytes
    }

    /// Decodes a document in the typed form, of any database.
    ///
    /// - Throws: `StorageError/Code/invalidArgument`, with a description of the flaw.
    public static func document(
        typed text: some Collection<UInt8>
    ) throws(StorageError) -> TypedDocument {
        let json = try parsed(text)
        guard let name = try json.text("name") else {
            throw FirestoreDecoding.flaw("a document of the typed form needs a “name”")
        }
        let segments = name.utf8
            .split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
        guard segments.count > 5, segments[0] == "projects", segments[2] == "databases",
            segments[4] == "documents"
        else {
            throw FirestoreDecoding.flaw(
                "“\(name)” is not of the form projects/…/databases/…/documents/…"
            )
        }
        let decoding = FirestoreDecoding(
            database: segments[..<4].joined(separator: "/"),
            isExtended: true
        )
        return TypedDocument(
            path: try decoding.path(of: name),
            fields: try decoding.fields(json.member("fields")),
            createTime: try time("createTime", of: json, decoding),
            updateTime: try time("updateTime", of: json, decoding),
            revision: try decoding.revision(json)
        )
    }

    /// Decodes a value in the typed form.
    ///
    /// - Throws: `StorageError/Code/invalidArgument`, with a description of the flaw.
    public static func value(
        typed text: some Collection<UInt8>
    ) throws(StorageError) -> DocumentValue {
        try FirestoreDecoding(database: database).value(parsed(text))
    }

    /// Decodes a value in the plain form.
    ///
    /// - Throws: `StorageError/Code/invalidArgument`, with a description of the flaw.
    public static func value(
        plain text: some Collection<UInt8>
    ) throws(StorageError) -> DocumentValue {
        try parsed(text).plainValue
    }

    private static func parsed(
        _ text: some Collection<UInt8>
    ) throws(StorageError) -> FirestoreJSON {
        do throws(FirestoreJSONError) {
            return try FirestoreJSON(parsing: text)
        } catch {
            throw FirestoreDecoding.flaw("the text is not valid JSON: \(error)")
        }
    }

    private static func time(
        _ name: String,
        of json: FirestoreJSON,
        _ decoding: FirestoreDecoding
    ) throws(StorageError) -> Timestamp? {
        json.member(name) == nil ? nil : try decoding.time(name, of: json)
    }
}

/// A document decoded from Firestore's typed JSON, in which times and revision are optional.
public struct TypedDocument: Sendable, Hashable {
    /// The document's path.
    public let path: DocumentPath
    /// The document's fields.
    public let fields: DocumentFields
    /// The time at which the document was created.
    public let createTime: Timestamp?
    /// The time at which the document was last changed.
    public let updateTime: Timestamp?
    /// The document's revision, which only Keel writes.
    public let revision: Revision?

    /// The document as stored; nil if a time is missing.
    ///
    /// If the text has no revision, the revision is the update time in microseconds, as for Firestore's documents.
    public var document: Document? {
        guard let createTime, let updateTime else { return nil }
        return Document(
            path: path,
            body: DocumentBody(fields),
            revision: revision ?? Revision(number: updateTime.microseconds),
            createTime: createTime,
            updateTime: updateTime
        )
    }
}

extension FirestoreJSON {
    init(plain value: DocumentValue) {
        self =
            switch value {
            case .null: .null
            case .boolean(let value): .boolean(value)
            case .integer(let value): .integer(value)
            case .double(let value) where value.isNaN: "NaN"
            case .double(let value) where value.isInfinite: value < 0 ? "-Infinity" : "Infinity"
            case .double(let value): .number(value)
            case .timestamp(let time): .string(FirestoreTime.text(of: time))
            case .string(let text): .string(text)
            case .bytes(let bytes): .string(Base64.encode(bytes))
            case .reference(let path): .string(path.string)
            case .geopoint(let point):
                ["latitude": .number(point.latitude), "longitude": .number(point.longitude)]
            case .array(let values): .array(values.map(FirestoreJSON.init(plain:)))
            case .vector(let vector):
                .array(vector.elements.map { FirestoreJSON(plain: .double($0)) })
            case .map(let fields):
                .object(fields.map { Member($0.name, FirestoreJSON(plain: $0.value)) })
            }
    }

    package var plainValue: DocumentValue {
        switch self {
        case .null: .null
        case .boolean(let value): .boolean(value)
        case .integer(let value): .integer(value)
        case .number(let value): .double(value)
        case .string(let text): .string(text)
        case .array(let values): .array(values.map(\.plainValue))
        case .object(let members):
            .map(DocumentFields(members.lazy.map { ($0.name, $0.value.plainValue) }))
        }
    }
}

public import KeelStorageAdapting

/// Documents and values as JSON text (RFC 8259), for files and for tools.
///
/// Two forms exist. The **typed** one is that of Firestore's REST protocol (`Document` and `Value`
/// in its reference, version v1): every value says its type, and nothing is lost. The **plain** one
/// is what people write by hand; it has no words for some kinds:
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
///
/// Plain JSON is therefore read as null, booleans, numbers, strings, arrays and maps only.
public enum DocumentJSON: Sendable {
    /// The database below which typed text names documents where no other is given.
    public static let database = "projects/keel/databases/(default)"

    /// Writes a document in the typed form, with its times and, as `keel`, its revision.
    ///
    /// - Throws: `StorageError/Code/corrupted` if the document's body cannot be decoded.
    public static func typed(
        _ document: Document,
        database: String = DocumentJSON.database
    ) throws(StorageError) -> [UInt8] {
        try FirestoreEncoding(database: database, isExtended: true).document(document).bytes
    }

    /// Writes a value in the typed form: an object whose one member names the type.
    public static func typed(_ value: DocumentValue) -> [UInt8] {
        FirestoreEncoding(database: database).value(value).bytes
    }

    /// Writes a value in the plain form.
    public static func plain(_ value: DocumentValue) -> [UInt8] {
        FirestoreJSON(plain: value).bytes
    }

    /// Reads a document in the typed form, whichever database its name is in.
    ///
    /// - Throws: `StorageError/Code/invalidArgument`, saying what is wrong with the text.
    public static func document(
        typed text: some Collection<UInt8>
    ) throws(StorageError) -> TypedDocument {
        let json = try parsed(text)
        guard let name = try json.text("name") else {
            throw FirestoreDecoding.flaw("a document of the typed form needs a “name”")
        }
        let segments = name.split(separator: "/", omittingEmptySubsequences: false)
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

    /// Reads a value in the typed form.
    ///
    /// - Throws: `StorageError/Code/invalidArgument`, saying what is wrong with the text.
    public static func value(
        typed text: some Collection<UInt8>
    ) throws(StorageError) -> DocumentValue {
        try FirestoreDecoding(database: database).value(parsed(text))
    }

    /// Reads a value in the plain form.
    ///
    /// - Throws: `StorageError/Code/invalidArgument`, saying what is wrong with the text.
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
            throw FirestoreDecoding.flaw("the text is no JSON: \(error)")
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

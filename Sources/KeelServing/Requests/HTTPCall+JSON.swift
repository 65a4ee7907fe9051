import HTTPTypes
import KeelHTTP
import KeelStorageFirestore

extension HTTPCall {
    /// The body as JSON; an empty object where there is none.
    ///
    /// - Parameters:
    ///   - limit: The most bytes; no more are read.
    ///   - levels: How deeply it may nest.
    ///   - values: The most values that it may have.
    /// - Returns: The JSON.
    /// - Throws: A failure if it is too large, is announced as something else, or is no JSON.
    func json(
        upTo limit: Int,
        levels: Int,
        values: Int
    ) async throws(ServingFailure) -> FirestoreJSON {
        let bytes = try await bytes(upTo: limit)
        guard !bytes.isEmpty else { return .object([]) }
        // A page of another site can send forms and plain text without asking, and JSON not.
        guard isJSON else { throw .notJSON }
        do throws(FirestoreJSONError) {
            return try FirestoreJSON(parsing: bytes, deepest: levels, mostValues: values)
        } catch {
            guard error.reason != .tooMany else { throw .tooManyValues(values) }
            throw .invalid("the body of the request is no JSON: \(error)")
        }
    }

    /// The body; empty where there is none.
    ///
    /// - Parameter limit: The most bytes; no more are read.
    /// - Returns: The bytes.
    /// - Throws: A failure if there are more, or if they break off.
    func bytes(upTo limit: Int) async throws(ServingFailure) -> [UInt8] {
        guard let body else { return [] }
        guard (body.length ?? 0) <= Int64(limit) else { throw .bodyTooLarge(limit) }
        if let bytes = body.bytes { return bytes }
        do throws(TransportError) {
            return try await body.open().collect(upTo: limit)
        } catch {
            guard ![.responseTooLarge, .decompressionLimit].contains(error.code) else {
                throw .bodyTooLarge(limit)
            }
            throw .invalid("the body of the request broke off")
        }
    }

    /// Whether the body is announced as JSON, or not announced at all.
    private var isJSON: Bool {
        guard let mediaType else { return true }
        return mediaType == "application/json" || mediaType.hasSuffix("+json")
    }

    /// The media type of the body without parameters, in small letters; nil if it is not announced.
    var mediaType: String? {
        head.headerFields[.contentType].map { type in
            // Nearly every client writes it in this form.
            if type == "application/json" { return type }
            return type.prefix { $0 != ";" }.filter { !$0.isWhitespace }.lowercased()
        }
    }
}

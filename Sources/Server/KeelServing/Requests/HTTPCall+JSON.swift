import HTTPTypes
import KeelHTTP
import KeelStorageFirestore

extension HTTPCall {
    /// Returns the body as JSON; an empty object if there is no body.
    ///
    /// - Throws: A failure if the body exceeds a limit, has another media type, or is not JSON.
    func json(
        upTo limit: Int,
        levels: Int,
        values: Int
    ) async throws(ServingFailure) -> FirestoreJSON {
        let bytes = try await bytes(upTo: limit)
        guard !bytes.isEmpty else { return .object([]) }
        // Pages of other sites can send forms and plain text without a CORS preflight, but not JSON.
        guard isJSON else { throw .notJSON }
        do throws(FirestoreJSONError) {
            return try FirestoreJSON(parsing: bytes, deepest: levels, mostValues: values)
        } catch {
            guard error.reason != .tooMany else { throw .bodyTooLarge(values, "values") }
            throw .invalid("the body of the request is not valid JSON: \(error)")
        }
    }

    /// Returns the body, or an empty array.
    ///
    /// - Throws: A failure if the body is longer than the limit, or breaks off.
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

    private var isJSON: Bool {
        guard let mediaType else { return true }
        return mediaType == "application/json" || mediaType.hasSuffix("+json")
    }

    /// The media type of the body without parameters, in lowercase; nil if it is missing.
    var mediaType: String? {
        head.headerFields[.contentType].map { type in
            // A fast path for the usual form.
            if type == "application/json" { return type }
            return type.prefix { $0 != ";" }.filter { !$0.isWhitespace }.lowercased()
        }
    }
}

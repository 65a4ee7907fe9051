#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension SecretStore {
    /// Saves a string under a key, as UTF-8.
    public func save(_ text: String, forKey key: String) async throws(SecretError) {
        try await save(Data(text.utf8), forKey: key)
    }

    /// Returns the string under a key.
    ///
    /// - Throws: ``SecretError``, with the code `keyNotFound` if there is none, or `invalidData` if it is not UTF-8.
    public func loadString(forKey key: String) async throws(SecretError) -> String {
        let data = try await load(forKey: key)
        guard let text = String(validating: data, as: UTF8.self) else {
            throw SecretError(.invalidData, "The secret \(key) of \(service) is not text.")
        }
        return text
    }

    /// Saves a value under a key, as JSON.
    ///
    /// - Throws: ``SecretError``, with the code `encodingFailed` if the value cannot be encoded as JSON.
    @concurrent
    public func save(
        encoding value: some Encodable & Sendable,
        forKey key: String
    ) async throws(SecretError) {
        let data: Data
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            data = try encoder.encode(value)
        } catch {
            // The encoder's error may quote the value.
            throw SecretError(.encodingFailed, "The value for \(key) could not be encoded.")
        }
        try await save(data, forKey: key)
    }

    /// Returns the value under a key.
    ///
    /// - Throws: ``SecretError``, with the code `keyNotFound` if there is none, or `invalidData` if it cannot be
    ///   decoded as the type.
    @concurrent
    public func loadValue<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self,
        forKey key: String
    ) async throws(SecretError) -> Value {
        let data = try await load(forKey: key)
        do {
            return try JSONDecoder().decode(type, from: data)
        } catch {
            // The decoder's error may quote the secret.
            throw SecretError(
                .invalidData,
                "The secret \(key) of \(service) does not have the requested type."
            )
        }
    }
}

import KeelHTTP

extension HTTPCall {
    /// Reads the whole body, like a transport that sends it; empty if there is none.
    ///
    /// - Throws: `cancelled`, or `bodyProducerFailed` with any other error of the producer as its cause.
    func readBody() async throws(TransportError) -> [UInt8] {
        do throws(TransportError) {
            return try await body?.open().collect(upTo: .max) ?? []
        } catch {
            guard error.code != .cancelled, error.code != .bodyProducerFailed else { throw error }
            throw TransportError(.bodyProducerFailed, cause: error)
        }
    }
}

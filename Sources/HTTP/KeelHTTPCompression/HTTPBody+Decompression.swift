package import KeelHTTP

extension HTTPBody {
    /// Returns the body without its content codings, decoded while it is read; nil for an unknown
    /// coding.
    package func decompressed(
        from encoding: String,
        limits: DecompressionLimits = DecompressionLimits()
    ) -> HTTPBody? {
        guard let codings = ContentCoding.list(encoding) else { return nil }
        guard !codings.isEmpty else { return self }
        return HTTPBody(length: nil, isReplayable: isReplayable) {
            () async throws(TransportError) in
            var stream = try await open()
            for coding in codings.reversed() {
                let decoder = BodyDecoder(coding, limits: limits)
                stream = stream.mapReads { read async throws(TransportError) in
                    try await decoder.next(from: read)
                }
            }
            return stream
        }
    }
}

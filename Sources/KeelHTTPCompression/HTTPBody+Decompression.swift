package import KeelHTTP

extension HTTPBody {
    /// The body without its content codings, decoded while it is read.
    ///
    /// - Parameters:
    ///   - encoding: The value of `Content-Encoding`.
    ///   - limits: How much may come of how little.
    /// - Returns: The body; nil if a coding is not known.
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

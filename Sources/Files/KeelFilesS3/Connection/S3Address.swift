#if Crypto
internal import KeelCore
internal import KeelFiles

struct S3Address: Hashable, Sendable {
    let scheme: String
    let authority: String
    /// The path before the key, with a trailing `/`.
    let pathPrefix: String

    var isSecure: Bool { scheme == "https" }

    var isLoopback: Bool {
        if authority.hasPrefix("[::1]") { return true }
        let host = authority.prefix { $0 != ":" }
        if host == "localhost" || host.hasSuffix(".localhost") { return true }
        // Four numbers, not a name that begins like them.
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
        return numbers.count == 4 && numbers[0] == "127" && numbers.allSatisfy { UInt8($0) != nil }
    }

    /// Whether the server is Cloudflare R2, where conditions are sent differently.
    ///
    /// Source: https://developers.cloudflare.com/r2/api/s3/conditional-operations/
    var isR2: Bool {
        authority.prefix { $0 != ":" }.hasSuffix(".r2.cloudflarestorage.com")
    }

    init(_ configuration: S3FileStoreAdapter.Configuration) throws(FileStoreError) {
        let bucket = configuration.bucket
        try Self.check(bucket)
        let region = configuration.region
        guard !region.isEmpty, region.utf8.allSatisfy(Self.isHostByte) else {
            throw FileStoreError(.invalidArgument, "“\(region)” is not a valid region name.")
        }
        let usual =
            "https://s3.\(region).amazonaws.com" + (region.hasPrefix("cn-") ? ".cn" : "")
        let (scheme, authority, path) = try Self.parts(of: configuration.endpoint ?? usual)
        // A wildcard certificate for *.host does not match a bucket name with a dot.
        let isNamed = configuration.endpoint == nil && !bucket.contains(".")
        self.scheme = scheme
        switch configuration.addressing ?? (isNamed ? .virtualHost : .path) {
        case .virtualHost:
            self.authority = bucket + "." + authority
            pathPrefix = path + "/"
        case .path:
            self.authority = authority
            pathPrefix = path + "/" + bucket + "/"
        }
    }

    func path(of key: String?) -> String {
        pathPrefix + PercentEncoding.encode(key ?? "", keepsSlashes: true)
    }

    // MARK: Parts

    private static func parts(
        of endpoint: String
    ) throws(FileStoreError) -> (scheme: String, authority: String, path: String) {
        let flawed = FileStoreError(
            .invalidArgument,
            "The endpoint must be http or https, a host and a port, like http://127.0.0.1:9000."
        )
        guard let colon = endpoint.firstRange(of: "://") else { throw flawed }
        let scheme = endpoint[..<colon.lowerBound].lowercased()
        let rest = endpoint[colon.upperBound...]
        var authority = String(rest.prefix { $0 != "/" }).lowercased()
        var path = String(rest.dropFirst(authority.count))
        while path.hasSuffix("/") { path.removeLast() }
        guard scheme == "http" || scheme == "https", !authority.isEmpty,
            authority.utf8.allSatisfy({ isHostByte($0) || ":[]".utf8.contains($0) }),
            path.utf8.allSatisfy({ isHostByte($0) || "/_~".utf8.contains($0) })
        else { throw flawed }
        // Clients omit the default port from the Host field, which is signed.
        let port = scheme == "https" ? ":443" : ":80"
        if authority.hasSuffix(port) { authority.removeLast(port.count) }
        return (scheme, authority, path)
    }

    /// Refuses names that would change the path or host; the server checks the finer rules.
    private static func check(_ bucket: String) throws(FileStoreError) {
        guard (3...255).contains(bucket.utf8.count), !bucket.hasPrefix("."),
            bucket.utf8.allSatisfy({ isHostByte($0) || $0 == UInt8(ascii: "_") })
        else {
            throw FileStoreError(
                .invalidArgument,
                "“\(bucket)” is not a valid bucket name: use 3 to 63 letters, digits, “-” and “.”."
            )
        }
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        byte.isASCIIAlphanumeric || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
    }
}
#endif

/// Where files are, as it stands on the command line.
package enum FilePlace: Hashable, Sendable, CustomStringConvertible {
    /// A file or a folder of the machine.
    case machine(path: String)
    /// A key of a bucket, or what keys begin with: empty or with `/` at its end, a folder.
    case bucket(name: String, key: String)

    private static let scheme = "s3://"

    /// Reads `s3://BUCKET/KEY`, or a path of the machine.
    package init?(_ text: String) {
        guard text.hasPrefix(Self.scheme) else {
            guard !text.isEmpty else { return nil }
            self = .machine(path: text)
            return
        }
        let rest = text.dropFirst(Self.scheme.count)
        let name = String(rest.prefix { $0 != "/" })
        guard !name.isEmpty else { return nil }
        self = .bucket(name: name, key: String(rest.dropFirst(name.count + 1)))
    }

    package var description: String {
        switch self {
        case .machine(let path): path
        case .bucket(let name, let key): "\(Self.scheme)\(name)/\(key)"
        }
    }

    package var isBucket: Bool { if case .bucket = self { true } else { false } }

    /// The place of a file in this folder.
    func appending(_ names: String) -> FilePlace {
        switch self {
        case .machine(let path):
            .machine(path: path.hasSuffix("/") ? path + names : path + "/" + names)
        case .bucket(let bucket, let key):
            .bucket(
                name: bucket,
                key: key.isEmpty || key.utf8.last == UInt8(ascii: "/")
                    ? key + names : key + "/" + names
            )
        }
    }
}

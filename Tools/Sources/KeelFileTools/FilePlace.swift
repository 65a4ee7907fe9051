internal import KeelToolSupport

/// The place of files, as named on the command line.
package enum FilePlace: Hashable, Sendable, CustomStringConvertible {
    /// A local file or folder.
    case local(path: String)
    /// A key of a bucket; a folder if it is empty or ends with `/`.
    case bucket(name: String, key: String)

    private static let scheme = "s3:"

    /// Parses `s3://BUCKET/KEY`, `s3:BUCKET/KEY`, or a local path; nil for an empty text or bucket.
    package init?(_ text: String) {
        guard text.hasPrefix(Self.scheme) else {
            guard !text.isEmpty else { return nil }
            self = .local(path: text)
            return
        }
        // By bytes: as a text, a “/” and a combining mark are one character.
        let address = text.utf8.dropFirst(Self.scheme.utf8.count)
        let rest = address.starts(with: "//".utf8) ? address.dropFirst(2) : address
        let name = rest.prefix { $0 != UInt8(ascii: "/") }
        guard !name.isEmpty else { return nil }
        let key = rest.dropFirst(name.count + 1)
        self = .bucket(name: String(Substring(name)), key: String(Substring(key)))
    }

    // As texts, `é` in one scalar and in two are equal, but they are the names of two files.
    package static func == (left: Self, right: Self) -> Bool {
        left.isBucket == right.isBucket
            && left.description.utf8.elementsEqual(right.description.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        for byte in description.utf8 { hasher.combine(byte) }
    }

    package var description: String {
        switch self {
        case .local(let path): path
        case .bucket(let name, let key): "\(Self.scheme)//\(name)/\(key)"
        }
    }

    /// The place as one word of a shell's command line.
    package var shellWord: String { description.shellWord }

    package var isBucket: Bool { if case .bucket = self { true } else { false } }

    func appending(_ names: String) -> FilePlace {
        switch self {
        case .local(let path):
            .local(path: path.hasSuffix("/") ? path + names : path + "/" + names)
        case .bucket(let bucket, let key):
            .bucket(
                name: bucket,
                key: key.isEmpty || key.utf8.last == UInt8(ascii: "/")
                    ? key + names : key + "/" + names
            )
        }
    }
}

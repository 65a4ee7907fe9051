#if Crypto
internal import Synchronization

/// Saves the keyset of a ring, unless somebody else has written the file.
final class KeysetSaver: Sendable {
    private let file: KeysetFile
    private let cipher: KeysetCipher
    /// What the file held when it was last read or written here, and what a failed attempt may
    /// have left in it.
    private let contents: Mutex<[[UInt8]]>

    init(file: KeysetFile, cipher: KeysetCipher, content: [UInt8]) {
        self.file = file
        self.cipher = cipher
        contents = Mutex([content])
    }

    func save(_ keyset: Keyset) throws(SecurityError) {
        let content = try file.content(of: keyset, cipher)
        try contents.withLock { known throws(SecurityError) in
            try file.locked { () throws(SecurityError) in
                guard let found = try file.content(), known.contains(found) else {
                    throw SecurityError(
                        .keyStoreFailed,
                        "another program has written the keyset: load it again"
                    )
                }
                known = [found, content]
                try file.write(content)
                known = [content]
            }
        }
    }
}
#endif

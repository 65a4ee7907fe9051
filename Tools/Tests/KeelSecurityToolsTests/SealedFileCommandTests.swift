#if os(Linux) || os(macOS)
import Foundation
import KeelSecurity
import KeelSecurityTools
import KeelToolSupport
import KeelToolsTestSupport
import Testing

@Suite("Sealed files of keel encrypt and decrypt", .timeLimit(.minutes(30)))
struct SealedFileCommandTests {
    private let scratch: Scratch
    private let key: String

    init() throws {
        scratch = try Scratch()
        key = scratch.file("key").path
    }

    /// Runs a shell script, in which `$keel` is the command.
    private func shell(
        _ script: String,
        _ environment: [String: String] = [:]
    ) throws -> (code: Int32, output: Data, errors: String) {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", script]
        process.currentDirectoryURL = scratch.folder
        process.environment = ProcessInfo.processInfo.environment
            .merging(["keel": try KeelProcess.program().path]) { $1 }
            .merging(environment) { $1 }
        let (output, errors) = (scratch.file(UUID().uuidString), scratch.file(UUID().uuidString))
        for file in [output, errors] { try Data().write(to: file) }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: errors)
        try process.run()
        process.waitUntilExit()
        defer { for file in [output, errors] { try? FileManager.default.removeItem(at: file) } }
        return (
            process.terminationStatus, try Data(contentsOf: output),
            String(decoding: try Data(contentsOf: errors), as: UTF8.self)
        )
    }

    private func recipient(_ file: String = "key") throws -> String {
        let made = try shell("\"$keel\" keyset generate \(file)")
        try #require(made.code == 0, "\(made.errors)")
        return String(decoding: made.output, as: UTF8.self).trimmingCharacters(in: .newlines)
    }

    private func plain(_ count: Int) throws -> Data {
        let data = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
        try data.write(to: scratch.file("plain"))
        return data
    }

    @Test("A file of keys that is too long is refused, and no key at its end is passed over")
    func longFile() throws {
        let (first, last) = (SealedFileIdentity().recipient, SealedFileIdentity().recipient)
        let comment = "#" + String(repeating: " ", count: 1 << 20)
        let file = try scratch.file("team", holding: "\(first)\n\(comment)\n\(last)\n").path
        let error = #expect(throws: ToolError.self) {
            try KeyFiles.recipients(texts: [], files: [file])
        }
        #expect(error?.advice.contains("of at most 1 MiB") == true)
    }

    @Test("A file of keys may begin with a byte order mark")
    func byteOrderMark() throws {
        let recipient = SealedFileIdentity().recipient
        let file = try scratch.file("team", holding: "\u{FEFF}\(recipient)\n").path
        #expect(try KeyFiles.recipients(texts: [], files: [file]) == [recipient])
    }

    @Test("Each of several recipients opens a file through pipes", arguments: [0, 1, 300_000])
    func recipients(count: Int) throws {
        let data = try plain(count)
        let (first, second) = (try recipient(), try recipient("key2"))
        try Data("# the team\n\(second)\n".utf8).write(to: scratch.file("team"))
        let sealed = try shell("cat plain | \"$keel\" encrypt -r \(first) -R team > sealed")
        #expect(sealed.code == 0 && sealed.output.isEmpty, "\(sealed.errors)")
        for file in ["key", "key2"] {
            let opened = try shell("cat sealed | \"$keel\" decrypt -i \(file)")
            #expect(opened.code == 0 && opened.output == data && opened.errors.isEmpty)
        }
        _ = try recipient("key3")
        let foreign = try shell("\"$keel\" decrypt -i key3 < sealed")
        #expect(foreign.code == 1 && foreign.output.isEmpty)
        #expect(foreign.errors.contains("other recipients"))
        let keyless = try shell("\"$keel\" decrypt - -o - < sealed")
        #expect(keyless.code == 1 && keyless.errors.contains("--identity"))
    }

    @Test("A file and its result appear under their names, as text with --armor")
    func files() throws {
        let data = try plain(100_000)
        let recipient = try recipient()
        let sealed = try shell("\"$keel\" encrypt plain --armor -r \(recipient) --context a")
        #expect(sealed.code == 0, "\(sealed.errors)")
        let text = try String(contentsOf: scratch.file("plain.keel"), encoding: .utf8)
        #expect(text.hasPrefix("-----BEGIN KEEL SEALED FILE-----\n"))
        let taken = try shell("\"$keel\" decrypt plain.keel -i key --context a")
        #expect(taken.code == 1 && taken.errors.contains("already exists"))
        let other = try shell("\"$keel\" decrypt plain.keel -i key --context b -o copy --json")
        #expect(other.code == 1 && other.errors.contains(#""code":"decryptionFailed""#))
        #expect(try shell("\"$keel\" decrypt plain.keel -i key --context a -o copy").code == 0)
        #expect(try Data(contentsOf: scratch.file("copy")) == data)
        let mode = try FileManager.default.attributesOfItem(atPath: scratch.file("copy").path)
        #expect((mode[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    }

    @Test("A full standard output is named")
    func fullOutput() throws {
        _ = try plain(100_000)
        let full = try shell("\"$keel\" encrypt plain -r \(try recipient()) -o - > /dev/full")
        #expect(full.code == 1 && full.errors.contains("standard output is full"))
        #expect(!full.errors.contains("--help"))
    }

    @Test("A passphrase comes from a file, a descriptor or the terminal")
    func passphrases() throws {
        let data = try plain(70_000)
        try Data("correct horse\n".utf8).write(to: scratch.file("right"))
        try Data("battery\n".utf8).write(to: scratch.file("wrong"))
        let file = ["KEEL_PASSPHRASE_FILE": scratch.file("right").path]
        let encrypt = "\"$keel\" encrypt -p --passphrase-memory 1"
        let sealed = try shell("\(encrypt) < plain > sealed", file)
        #expect(sealed.code == 0, "\(sealed.errors)")
        #expect(try shell("\"$keel\" decrypt < sealed", file).output == data)
        let descriptor = try shell(
            "\"$keel\" decrypt --passphrase-descriptor 3 sealed -o - 3< right"
        )
        #expect(descriptor.code == 0 && descriptor.output == data)
        let variable = try shell(
            "\"$keel\" decrypt --passphrase-variable OWN < sealed",
            ["OWN": "correct horse"]
        )
        #expect(variable.code == 0 && variable.output == data)
        let wrong = try shell("\"$keel\" decrypt --passphrase-descriptor 3 < sealed 3< wrong")
        #expect(wrong.code == 1 && wrong.output.isEmpty)
        #expect(wrong.errors.contains("the passphrase is another one"))
        let closed = try shell("\"$keel\" decrypt --passphrase-descriptor 9 < sealed")
        #expect(closed.code == 1 && closed.errors.contains("descriptor 9"))
        #if os(Linux)
        let alone = try shell("setsid --wait \"$keel\" encrypt -p < plain > none")
        #expect(alone.code == 1 && alone.errors.contains("no terminal is available"))
        #endif
    }

    @Test("Changed and truncated files give no byte that was not authenticated, and no file")
    func damaged() throws {
        let data = try plain(200_000)
        let recipient = try recipient()
        #expect(try shell("\"$keel\" encrypt -r \(recipient) < plain > sealed").code == 0)
        let sealed = try Data(contentsOf: scratch.file("sealed"))
        let header = try #require(try SealedFileHeader(beginning: sealed)).bytes.count
        var cases: [Data] = [0, 5, header - 1, header, header + 40, sealed.count - 1].map {
            sealed.prefix($0)
        }
        for segment in 1...3 { cases.append(sealed.prefix(header + segment * 65_536)) }
        for place in [20, header - 1, header + 3, header + 50, header + 70_000, sealed.count - 1] {
            var changed = sealed
            changed[place] ^= 1
            cases.append(changed)
        }
        let second = sealed[header + 65_536..<header + 131_072]
        let third = sealed[header + 131_072..<header + 196_608]
        cases.append(
            sealed.prefix(header + 65_536) + third + second + sealed.dropFirst(header + 196_608)
        )
        cases.append(sealed + [0])
        for (index, bytes) in cases.enumerated() {
            try bytes.write(to: scratch.file("damaged.keel"))
            let piped = try shell("\"$keel\" decrypt -i key < damaged.keel")
            #expect(piped.code == 1 && !piped.errors.isEmpty, "case \(index)")
            #expect(data.starts(with: piped.output), "case \(index)")
            // Only with a byte after the end has most of the data been written, but not its end.
            #expect(piped.output.count < data.count, "case \(index)")
            #expect(try shell("\"$keel\" decrypt -i key damaged.keel").code == 1, "case \(index)")
            let names = try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path)
            #expect(Set(names) == ["plain", "key", "sealed", "damaged.keel"], "case \(index)")
        }
    }

    @Test("Wrong command lines are refused before anything is read")
    func usage() throws {
        let recipient = try recipient()
        for arguments in [
            "encrypt", "encrypt -p -r \(recipient)", "encrypt --armor --keyset k --key-file f",
            "encrypt -p --passphrase-memory 0", "encrypt -p --passphrase-descriptor 0",
            "encrypt -p secret extra", "decrypt file", "decrypt -i - -",
            "decrypt --key-file f", "decrypt --keyset k",
        ] {
            let refused = try shell("\"$keel\" \(arguments)")
            #expect(refused.code == 64 && refused.output.isEmpty, "\(arguments): \(refused.errors)")
        }
        let mistyped = recipient.dropLast() + (recipient.last == "0" ? "2" : "0")
        let typo = try shell("\"$keel\" encrypt -r \(mistyped) < /dev/null")
        #expect(typo.code == 64 && typo.errors.contains("is not a recipient"))
        let foreign = try shell("echo hello | \"$keel\" decrypt -i key")
        #expect(foreign.code == 1 && foreign.errors.contains("not a sealed file"))
    }

    @Test("100 MB pass through both commands in bounded memory")
    func bounded() throws {
        let recipient = try recipient()
        let megabyte = Data(repeating: 65, count: 1_000_000)
        let sealed = scratch.file("sealed")
        let first = try stream(["encrypt", "-r", recipient], into: sealed) { write in
            for _ in 0..<100 { try write(megabyte) }
        }
        let opened = scratch.file("opened")
        let second = try stream(["decrypt", "-i", key], into: opened) { write in
            let input = try FileHandle(forReadingFrom: sealed)
            while let piece = try input.read(upToCount: 1 << 20), !piece.isEmpty {
                try write(piece)
            }
        }
        let result = try FileHandle(forReadingFrom: opened)
        var count = 0
        while let piece = try result.read(upToCount: 1_000_000), !piece.isEmpty {
            #expect(piece == megabyte)
            count += 1
        }
        #expect(count == 100)
        for peak in [first, second].compactMap(\.self) {
            #expect(peak < 100 << 20, "\(peak >> 20) MiB")
        }
    }

    /// Runs a command between a pipe and a file, and returns its peak memory.
    private func stream(
        _ arguments: [String],
        into file: URL,
        _ body: ((Data) throws -> Void) throws -> Void
    ) throws -> Int? {
        let (process, pipe) = (Process(), Pipe())
        process.executableURL = try KeelProcess.program()
        process.arguments = arguments
        try Data().write(to: file)
        process.standardInput = pipe
        process.standardOutput = try FileHandle(forWritingTo: file)
        try process.run()
        try body { try pipe.fileHandleForWriting.write(contentsOf: $0) }
        let status = try? String(
            contentsOfFile: "/proc/\(process.processIdentifier)/status",
            encoding: .utf8
        )
        try pipe.fileHandleForWriting.close()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return status.flatMap { status in
            status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
                .flatMap { Int($0.filter(\.isNumber)) }.map { $0 << 10 }
        }
    }

    // MARK: Keys

    @Test("Keys are imported from OpenSSL's forms, and their public halves exported")
    func keys() throws {
        _ = try recipient()
        for kind in ["x25519", "ed25519", "p256"] {
            for form in ["pem", "jwk"] {
                let file = "\(kind).\(form)"
                let made = try shell(
                    "\"$keel\" keyset generate \(file) --kind \(kind) --format \(form)"
                )
                #expect(made.code == 0, "\(made.errors)")
                let half = try shell("\"$keel\" keyset public \(file) --format \(form)")
                #expect(half.output == made.output)
                let copied = try shell(
                    """
                    "$keel" keyset import - \(file).copy < \(file) &&
                    "$keel" keyset public \(file).copy --format \(form)
                    """
                )
                #expect(copied.code == 0 && copied.output == made.output, "\(copied.errors)")
                let again = try shell("\"$keel\" keyset import \(file) \(file).copy")
                #expect(again.code == 1 && again.errors.contains("already exists"))
            }
        }
        let wrong = try shell("echo x > x; \"$keel\" keyset import x y")
        #expect(wrong.code == 1 && wrong.errors.contains("is not a private key"))
        #expect(try shell("\"$keel\" keyset public key --format pem").code == 0)
    }

    @Test("The public half of an HPKE keyset is exported")
    func publicKeyset() throws {
        let made = try shell(
            """
            "$keel" keyset create k --key-file kek --algorithm \
            DHKEM_X25519_HKDF_SHA256_HKDF_SHA256_AES_256_GCM
            """
        )
        #expect(made.code == 0, "\(made.errors)")
        let exported = try shell("\"$keel\" keyset public k --key-file kek")
        let keyset = try Keyset(cleartextJSON: exported.output)
        let encryption = try HybridEncryption(publicKeyset: keyset)
        #expect(try encryption.encrypt(Data("x".utf8)).count == 54)
    }

    @Test("A signature is verified, and a changed file is not", arguments: ["ed25519", "p256"])
    func signatures(kind: String) throws {
        _ = try plain(1000)
        #expect(try shell("\"$keel\" keyset generate sign --kind \(kind) > public").code == 0)
        #expect(try shell("\"$keel\" keyset sign plain --key sign").code == 0)
        let valid = try shell("\"$keel\" keyset verify plain --key public")
        #expect(valid.code == 0 && valid.output.isEmpty, "\(valid.errors)")
        let changed = try shell("printf x >> plain; \"$keel\" keyset verify plain --key public")
        #expect(changed.code == 1 && changed.errors.contains("not valid"))
        _ = try recipient()
        let other = try shell("\"$keel\" keyset sign plain --key key -o -")
        #expect(other.code == 1 && other.output.isEmpty)
        #expect(other.errors.contains("not for signatures"))
    }
}
#endif

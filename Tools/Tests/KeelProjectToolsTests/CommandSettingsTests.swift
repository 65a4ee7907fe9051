#if os(Linux) || os(macOS)
import Foundation
import KeelToolSupport
import KeelToolsTestSupport
import Testing

@Suite("Settings of the groups of commands", .timeLimit(.minutes(10)))
struct CommandSettingsTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func keel(
        _ arguments: [String],
        _ variables: [String: String] = [:],
        input: String? = nil
    ) throws -> (code: Int32, output: String, errors: String) {
        try KeelProcess(
            arguments,
            input: input,
            environment: ["XDG_CONFIG_HOME": scratch.file("config").path].merging(variables) { $1 },
            in: scratch.folder
        ).wait()
    }

    private func write(_ text: String) throws { _ = try scratch.file("keel.toml", holding: text) }

    private struct Command: Decodable {
        struct Argument: Decodable {
            struct Name: Decodable { let name: String }

            let names: [Name]?
        }

        let commandName: String
        let subcommands: [Command]?
        let arguments: [Argument]?

        func has(_ option: String) -> Bool {
            arguments?.contains { $0.names?.contains { $0.name == option } == true } == true
                || subcommands?.contains { $0.has(option) } == true
        }
    }

    private func commands() throws -> Command {
        struct Help: Decodable { let command: Command }
        let text = try keel(["--experimental-dump-help"]).output
        return try JSONDecoder().decode(Help.self, from: Data(text.utf8)).command
    }

    @Test(
        "Each option of what runs for long is a setting",
        arguments: ["serve", "proxy", "doctor"]
    )
    func completeness(name: String) throws {
        let command = try commands().subcommands?.first { $0.commandName == name }
        let options = (try #require(command).arguments ?? []).compactMap { argument in
            argument.names?.map(\.name).max { $0.count < $1.count }
        }
        #expect(options.count > 3)
        let settings = Setting.all.filter { $0.command == name }.map(\.option)
        let others: Set = ["help", "version", "json", "profile"]
        #expect(Set(options).subtracting(settings).subtracting(others).isEmpty)
    }

    @Test("Each setting is an option of the commands that it is for")
    func table() throws {
        let commands = try commands()
        for setting in Setting.all {
            let group = commands.subcommands?.first { $0.commandName == setting.command }
            let place = "\(setting.command).\(setting.option)"
            #expect(group?.has(setting.option) == true, "\(place)")
            for name in setting.subcommands {
                let command = group?.subcommands?.first { $0.commandName == name }
                #expect(command?.has(setting.option) == true, "\(place) of \(name)")
            }
        }
    }

    @Test(
        "A profile that there is not is an error of every group",
        arguments: [
            ["secrets", "list", "--service", "s"], ["keyset", "list", "k"], ["logs", "query", "l"],
            ["analytics", "status", "a"], ["storage", "verify", "s"], ["files", "ls", "s3://b"],
            ["encrypt", "f", "-p"], ["documents", "query", "c"], ["config", "show"],
            ["init", "App", "--keel", "."], ["lint"],
        ]
    )
    func unknownProfile(arguments: [String]) throws {
        try write("[profile.minio.files]\nregion = \"x\"\n[profile.near]\nstorage = \"s\"\n")
        for result in [
            try keel(["--profile", "typo"] + arguments),
            try keel(arguments, ["KEEL_PROFILE": "typo"]),
        ] {
            #expect(result.code == 64)
            #expect(result.errors.contains("has no profile “typo”"), "\(result.errors)")
            #expect(result.errors.contains("Its profiles are: minio, near."), "\(result.errors)")
        }
    }

    @Test("An advice shows no password, also in JSON", arguments: [[], ["--json"]] as [[String]])
    func passwordInAdvice(options: [String]) throws {
        try write("[serve]\nport = 9000\n")
        let result = try keel(["--profile", "x://u:hunter2@h", "config", "show"] + options)
        #expect(result.code == 64)
        #expect(result.errors.contains("Add the table [profile.x://u:…@h]."), "\(result.errors)")
        #expect(!result.errors.contains("hunter2"), "\(result.errors)")
    }

    @Test(
        "A file of another user counts only in a folder that not all users can write to",
        .enabled(if: geteuid() == 0, "SKIPPED: only root can give a file to another user")
    )
    func foreignFile() throws {
        try write("[serve]\nport = 9000\n")
        try #require(chown(scratch.file("keel.toml").path, 1, 1) == 0)
        let folder = scratch.file("below")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (mode, isTrusted) in [(0o755, true), (0o1777, false)] {
            try FileManager.default.setAttributes(
                [.posixPermissions: mode],
                ofItemAtPath: scratch.folder.path
            )
            let shown = try KeelProcess(
                ["config", "show", "serve"],
                environment: ["XDG_CONFIG_HOME": scratch.file("config").path],
                in: folder
            ).wait()
            #expect(shown.output.contains("serve.port = 9000  #") == isTrusted, "\(shown.output)")
        }
    }

    @Test("A profile can be named after the command as well")
    func profileBehind() throws {
        let store = scratch.file("s.sqlite").path
        try write("[profile.p.documents]\nstorage = \"\(store)\"\n")
        #expect(try keel(["documents", "--profile", "p", "set", "c/a", "{\"v\":1}"]).code == 0)
        let query = ["documents", "query", "c", "--plain"]
        #expect(try keel(query + ["--profile=p"]).output == "{\"v\":1}\n")
        #expect(try keel(query + ["--profile"]).errors.contains("--profile has no name"))
        #expect(try keel(["--help"]).output.contains("--profile <name>"))
        // The last of several holds, and lint is the command only in its place.
        try write("[profile.p]\nstorage = \"p.sqlite\"\n[profile.q]\nstorage = \"q.sqlite\"\n")
        for line in [
            ["--profile", "p", "--profile", "q", "documents", "set", "lint/a", "{}"],
            ["--profile=p", "documents", "get", "lint/a", "--profile", "q"],
            ["documents", "query", "lint", "--profile", "q"],
        ] {
            let result = try keel(line)
            #expect(result.code == 0, "\(line): \(result.errors)")
        }
        #expect(!FileManager.default.fileExists(atPath: scratch.file("p.sqlite").path))
        try write("[profile.empty]\n# storage = \"p.sqlite\"\n")
        #expect(try keel(["--profile", "empty", "config", "show"]).code == 0)
        // Arguments after -- belong to another program.
        let exec = ["secrets", "exec", "--service", "s", "--store", "env:KEEL_NONE_", "--", "echo"]
        #expect(try keel(exec + ["--profile", "x"]).output == "--profile x\n")
    }

    @Test("An unknown key of a group brings the group’s keys")
    func unknownKey() throws {
        try write("[files]\nendpiont = \"http://127.0.0.1:9\"\n")
        let result = try keel(["files", "ls", "s3://b"])
        #expect(result.code == 64)
        #expect(result.errors.contains("keel.toml:2: there is no setting “files.endpiont”"))
        #expect(result.errors.contains("Write “files.endpoint”?"))
        #expect(result.errors.contains("The keys of [files] are: aws-profile, endpoint, "))
    }

    @Test("Secrets have a store of their own, and their key from the file")
    func secrets() throws {
        let folder = scratch.file("secrets").path
        try write(
            """
            storage = "notes.sqlite"
            [secrets]
            service = "app"
            store = "file:\(folder)"
            key-file = "\(scratch.file("key").path)"
            """
        )
        #expect(try keel(["secrets", "set", "token"], input: "s3cret").code == 0)
        let other = ["KEEL_STORAGE": "other.sqlite", "KEEL_STORE": "other.sqlite"]
        #expect(try keel(["secrets", "get", "token"], other).output == "s3cret")
        // Another source of the key stands in its place.
        let variable = ["secrets", "get", "token", "--key-variable", "NONE"]
        #expect(try keel(variable).errors.contains("NONE"))
        let passphrase = ["secrets", "get", "token", "--passphrase-variable", "NONE"]
        #expect(try keel(passphrase).errors.contains("NONE"))
    }

    @Test("Recipients and keys of encryption come from the file")
    func encryption() throws {
        func key(_ name: String) throws -> String {
            let result = try keel(["keyset", "generate", name])
            #expect(result.code == 0, "\(result.errors)")
            return result.output.trimmingCharacters(in: .newlines)
        }
        let (first, second) = (try key("first"), try key("second"))
        _ = try scratch.file("plain", holding: "text")
        try write(
            """
            key-file = "no-such-key"
            [encrypt]
            recipient = ["\(first)"]
            [decrypt]
            identity = "first"
            """
        )
        #expect(try keel(["encrypt", "plain"]).code == 0)
        #expect(try keel(["decrypt", "plain.keel", "-o", "-"]).output == "text")
        // The recipients of the command line are all.
        #expect(try keel(["encrypt", "plain", "-ar", second, "-o", "other"]).code == 0)
        #expect(try keel(["decrypt", "other", "-o", "-"]).code == 1)
        #expect(try keel(["decrypt", "other", "-o", "-", "-i", "second"]).output == "text")
        let secret = ["SECRET": "correct horse"]
        let passphrase = ["--passphrase-variable", "SECRET"]
        let cost = ["--passphrase-memory", "1"]
        let sealed = try keel(["encrypt", "plain", "-o", "third"] + passphrase + cost, secret)
        #expect(sealed.code == 0, "\(sealed.errors)")
        #expect(try keel(["decrypt", "third", "-o", "-"] + passphrase, secret).output == "text")
        // A profile goes before the rest of the file, also where it names another way.
        try write(
            """
            [encrypt]
            recipient = "\(first)"
            [profile.keys]
            key-file = "kek"
            [profile.keys.encrypt]
            keyset = "keys.json"
            """
        )
        #expect(try keel(["--profile", "keys", "keyset", "create", "keys.json"]).code == 0)
        let kept = try keel(["--profile", "keys", "encrypt", "plain", "-o", "fourth"])
        #expect(kept.code == 0, "\(kept.errors)")
        let shown = try keel(["--profile", "keys", "config", "show", "encrypt", "plain"]).output
        #expect(shown.contains("encrypt.recipient = (none)"), "\(shown)")
        #expect(shown.contains("encrypt.key-file = kek"), "\(shown)")
    }

    @Test("What a keyset belongs to is remembered with it")
    func keysetContext() throws {
        _ = try scratch.file("plain", holding: "text")
        try write(
            """
            key-file = "kek"
            keyset-context = "notes"
            [encrypt]
            keyset = "keys.json"
            [decrypt]
            keyset = "keys.json"
            """
        )
        #expect(try keel(["keyset", "create", "keys.json"]).code == 0)
        let sealed = try keel(["encrypt", "plain"])
        #expect(sealed.code == 0, "\(sealed.errors)")
        #expect(try keel(["decrypt", "plain.keel", "-o", "-"]).output == "text")
        let list = ["keyset", "list", "keys.json"]
        #expect(try keel(list).code == 0)
        #expect(try keel(list, ["KEEL_KEYSET_CONTEXT": "others"]).code == 1)
    }

    @Test("The group of keys has its settings under each of its names")
    func aliases() throws {
        try write("[keyset]\nkey-file = \"kek\"\n")
        for name in ["keyset", "keysets", "keys"] {
            let made = try keel([name, "create", "\(name).json"])
            #expect(made.code == 0, "\(made.errors)")
            let shown = try keel(["config", "show", name, "list", "\(name).json"])
            #expect(shown.output.contains("keyset.key-file = kek  # "), "\(shown.errors)")
            #expect(!shown.output.contains("serve."), "\(shown.output)")
        }
        #expect(try keel(["--help"]).output.contains("keyset, keysets, keys"))
        try write("[keysets]\nkey-file = \"kek\"\n")
        #expect(try keel(["keys", "list", "k"]).errors.contains("Write “keyset.key-file”?"))
    }

    @Test("keel storage takes the store of the command line, of a variable, or of the file")
    func storage() throws {
        let first = scratch.file("first.sqlite").path
        let second = scratch.file("second.sqlite").path
        for (document, store) in [("c/a", first), ("c/a", second), ("c/b", second)] {
            let set = try keel(["documents", "set", document, "{}", "--storage", store])
            #expect(set.code == 0, "\(set.errors)")
        }
        try write("[storage]\nstorage = \"\(first)\"\n")
        let (one, two) = ("1 document, no differences\n", "2 documents, no differences\n")
        let verify = ["storage", "verify"]
        #expect(try keel(verify).output == one)
        #expect(try keel(verify, ["KEEL_STORAGE": second]).output == two)
        #expect(try keel(verify + ["--storage", second]).output == two)
        #expect(try keel(verify + [second]).output == two)
        #expect(try keel(["storage", "doctor"]).output.contains("1 document, no corruption"))
        let shown = try keel(["config", "show", "storage", "verify"]).output
        #expect(shown.contains("storage.storage = \(first)  # "), "\(shown)")
        // A value that only `serve` accepts does not matter if the command names a store.
        #expect(try keel(verify + [first], ["KEEL_STORAGE": "memory"]).output == one)
        for place in ["memory", "http://127.0.0.1:8080"] {
            let refused = try keel(verify, ["KEEL_STORAGE": place])
            #expect(refused.code == 64)
            #expect(refused.errors.contains("from: variable KEEL_STORAGE"), "\(refused.errors)")
        }
        try write("")
        let none = try keel(verify)
        #expect(none.code == 64 && none.errors.contains("set KEEL_STORAGE"), "\(none.errors)")
    }

    @Test("The store of all commands can be in one file with a table of keel storage")
    func storeOfAll() throws {
        let store = scratch.file("all.sqlite").path
        let other = scratch.file("other.sqlite").path
        try write(
            """
            [all]
            storage = "\(other)"
            [storage]
            unverified-database = true
            [profile.p.all]
            storage = "\(store)"
            [profile.p.storage]
            unverified-database = true
            [profile.two.all]
            storage = "\(store)"
            [profile.two.storage]
            storage = "\(other)"
            """
        )
        let profile = ["--profile", "p"]
        #expect(try keel(profile + ["documents", "set", "c/a", "{}"]).code == 0)
        #expect(try keel(["documents", "set", "c/b", "{}"]).code == 0)
        #expect(try keel(["documents", "set", "c/c", "{}"]).code == 0)
        let verify = ["storage", "verify"]
        let first = try keel(profile + verify)
        #expect(first.output == "1 document, no differences\n", "\(first.errors)")
        let two = "2 documents, no differences\n"
        #expect(try keel(verify).output == two)
        // The table of a command goes before that of all.
        #expect(try keel(["--profile", "two"] + verify).output == two)
        let shown = try keel(profile + ["config", "show", "storage", "verify"]).output
        #expect(shown.contains("storage.storage = \(store)  # "), "\(shown)")
        #expect(shown.contains("storage.unverified-database = true  # "), "\(shown)")
    }

    @Test("A store that is given inside and outside of [all] is an error with both lines")
    func storeTwice() throws {
        try write("storage = \"a\"\n[all]\nstorage = \"b\"\n")
        let result = try keel(["storage", "verify"])
        #expect(result.code == 64)
        #expect(
            result.errors.contains("keel.toml:3: “storage” is given twice, also in line 1"),
            "\(result.errors)"
        )
        try write("[all]\nstoarge = \"b\"\n")
        #expect(try keel(["storage", "verify"]).errors.contains("Write “storage”?"))
    }

    @Test("Indexes are listed in the store of the file, and their code needs none")
    func indexes() throws {
        let store = scratch.file("s.sqlite").path
        try write("[documents]\nstorage = \"\(store)\"\n")
        let file = """
            {"indexes": [{"collectionGroup": "c", "queryScope": "COLLECTION", "fields": [
            {"fieldPath": "a", "order": "ASCENDING"}, {"fieldPath": "b", "order": "ASCENDING"}]}]}
            """
        let code = try keel(["documents", "indexes", "import", "-", "--swift"], input: file)
        #expect(code.code == 0 && code.output.contains("StorageSchema"), "\(code.errors)")
        #expect(!FileManager.default.fileExists(atPath: store))
        let imported = try keel(["documents", "indexes", "import", "-"], input: file)
        #expect(imported.code == 0, "\(imported.errors)")
        #expect(try keel(["documents", "indexes", "list"]).output.contains("ready"))
    }

    @Test("config show has help, and takes --json after a command")
    func configShow() throws {
        let help = try keel(["config", "show", "--help"])
        #expect(help.code == 0 && help.output.contains("USAGE: keel config show"), "\(help.errors)")
        let json = try keel(["config", "show", "serve", "--port", "5", "--json"])
        #expect(json.output.hasPrefix(#"{"setting":"serve."#), "\(json.output)")
        let port = #"{"setting":"serve.port","source":"command line","value":"5"}"#
        #expect(json.output.contains(port))
        let provider = try keel(["config", "show", "files", "ls"]).output
        #expect(provider.contains("files.provider = aws  # default"), "\(provider)")
    }

    @Test("config show names the variables of AWS's tools that keel files uses")
    func foreignVariables() throws {
        let variables = [
            "AWS_ENDPOINT_URL": "http://127.0.0.1:9", "AWS_ENDPOINT_URL_S3": "",
            "AWS_REGION": "eu-north-1",
        ]
        let show = ["config", "show", "files", "ls"]
        let shown = try keel(show, variables).output
        for line in [
            "files.endpoint = http://127.0.0.1:9  # variable AWS_ENDPOINT_URL\n",
            "files.region = eu-north-1  # variable AWS_REGION\n",
        ] {
            #expect(shown.contains(line), "\(shown)")
        }
        let own = try keel(show, variables.merging(["KEEL_REGION": "own"]) { $1 }).output
        #expect(own.contains("files.region = own  # variable KEEL_REGION\n"), "\(own)")
        let r2 = try keel(show + ["--provider", "r2"], variables).output
        #expect(r2.contains("files.region = (none)  # default\n"), "\(r2)")
    }
}
#endif

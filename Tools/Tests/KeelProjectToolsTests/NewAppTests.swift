#if os(Linux) || os(macOS)
import Foundation
import KeelProjectTools
import KeelToolSupport
import KeelToolsTestSupport
import Testing

/// Scripts/checks/new-app.sh tests that the result builds and passes its tests.
@Suite("A new app")
struct NewAppTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    @Test(
        "An app name is converted to its forms",
        arguments: [
            ("ShoppingList", "ShoppingList", "shopping-list", "SHOPPING_LIST"),
            ("shopping list", "ShoppingList", "shopping-list", "SHOPPING_LIST"),
            ("notes", "Notes", "notes", "NOTES"), ("my2do", "My2do", "my2do", "MY2DO"),
            ("ABCNews", "ABCNews", "abcnews", "ABCNEWS"),
        ]
    )
    func forms(_ text: String, _ module: String, _ program: String, _ variable: String) throws {
        let name = try AppName(text)
        #expect(name.module == module)
        #expect(name.program == program)
        #expect(name.variable == variable)
    }

    @Test(
        "An invalid module name is rejected",
        arguments: [
            "", "-", "2do", "Größe", "Keel", "foundation", "crypto", "Logging",
            String(repeating: "a", count: 41),
        ]
    )
    func refused(_ text: String) { #expect(throws: ToolError.self) { try AppName(text) } }

    @Test("No file contains an unfilled placeholder", arguments: NewApp.Interface.allCases)
    func filled(_ interface: NewApp.Interface) throws {
        let files = NewApp(try AppName("shopping list"), interface, keel: "../keel").files
        for (path, text) in files {
            #expect(!path.contains("__"), "\(path)")
            #expect(!text.contains("__"), "\(path)")
        }
        let manifest = try #require(files["Package.swift"])
        #expect(manifest.contains(#".package(name: "keel", path: "../keel")"#))
        #expect(manifest.contains(#".executable(name: "shopping-list""#))
        #expect(files["Sources/ShoppingListDomain/DomainError.swift"] != nil)
    }

    @Test("An app with screens has models and views instead of commands")
    func screens() throws {
        let files = NewApp(try AppName("Notes"), .swiftUI, keel: "../keel").files
        #expect(files["Sources/NotesUI/NotesModel.swift"] != nil)
        let screen = try #require(files["Sources/NotesViews/NotesScreen.swift"])
        #expect(screen.hasPrefix("#if canImport(SwiftUI)"))
        #expect(files["Package.swift"]?.contains(".iOS(.v18)") == true)
        #expect(!files.keys.contains { $0.contains("Presentation") || $0.contains("CommandLine") })
    }

    @Test("A repository is referenced by its URL, and quotes in a path are escaped")
    func dependency() throws {
        let name = try AppName("a")
        let remote = NewApp(name, keel: "https://example.com/keel.git").files["Package.swift"]
        #expect(remote?.contains(#".package(url: "https://example.com/keel.git", "#) == true)
        #expect(remote?.contains(#"package: "keel")"#) == true)
        let fork = NewApp(name, keel: "https://example.com/Keel-Fork.git").files["Package.swift"]
        #expect(fork?.contains(#"package: "keel-fork")"#) == true)
        let ssh = NewApp(name, keel: "git@example.com:team/Keel.git").files["Package.swift"]
        #expect(ssh?.contains(#".package(url: "git@example.com:team/Keel.git", "#) == true)
        #expect(ssh?.contains(#"package: "keel")"#) == true)
        let odd = NewApp(name, keel: #"/a"b\c"#).files["Package.swift"]
        #expect(odd?.contains(#"path: "/a\"b\\c")"#) == true)
    }

    @Test("Existing files are not touched, and a failure leaves nothing behind")
    func untouched() throws {
        let app = NewApp(try AppName("Notes"), keel: "../keel")
        let folder = scratch.file("Notes")
        try app.write(to: folder)
        let before = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        #expect(throws: ToolError.self) { try app.write(to: folder) }
        let after = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        #expect(after.sorted() == before.sorted())
        let file = scratch.file("file")
        try Data().write(to: file)
        #expect(throws: ToolError.self) { try app.write(to: file.appending(path: "Notes")) }
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.file("").path)
        #expect(names.sorted() == ["Notes", "file"])
    }

    @Test("The command reports what it created and the next steps")
    func command() throws {
        let missing = try KeelProcess([
            "init", "Notes", "--in", scratch.file("").path, "--keel", scratch.file("none").path,
        ]).wait()
        #expect(missing.code == 1)
        #expect(missing.errors.contains("there is no package in"))
        let wrong = try KeelProcess(["init", "1", "--keel", "."]).wait()
        #expect(wrong.code == 64 && wrong.errors.contains("is not a valid app name"))
        try Data().write(to: scratch.file("Package.swift"))
        let made = try KeelProcess([
            "init", "Notes", "--in", scratch.file("").path, "--keel", scratch.file("").path,
        ]).wait()
        #expect(made.code == 0)
        #expect(made.output.contains("swift test && swift run notes"))
        let folder = scratch.file("my apps")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let spaced = try KeelProcess([
            "init", "Notes", "--in", folder.path, "--keel", scratch.file("").path,
        ]).wait()
        #expect(spaced.code == 0)
        #expect(spaced.output.contains("/my apps/Notes' && swift test"), "\(spaced.output)")
        let remote = try KeelProcess([
            "init", "Remote", "--in", scratch.file("").path, "--keel", "git@example.com:keel.git",
        ]).wait()
        #expect(remote.code == 0, "\(remote.errors)")
        let screens = try KeelProcess([
            "init", "Screens", "--ui", "swiftui", "--in", scratch.file("").path,
            "--keel", scratch.file("").path,
        ]).wait()
        #expect(screens.code == 0)
        let other = try KeelProcess([
            "init", "Other", "--ui", "uikit", "--in", scratch.file("").path,
            "--keel", scratch.file("").path,
        ]).wait()
        #expect(other.code == 64 && other.errors.contains("swiftui"))
    }
}
#endif

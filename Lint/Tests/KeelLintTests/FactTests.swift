import Foundation
import KeelLint
import Testing

@Suite("File facts")
struct FactTests {
    @Test("Imports are read with module, kind, access, attributes and place")
    func imports() {
        let found = facts(
            """
            import Foundation
            @testable import struct A.B
              @_exported public import C.D.E
            internal import `class`
            #if os(Linux)
            import Glibc
            #elseif canImport(Darwin)
            @preconcurrency import Darwin
            #else
            @_implementationOnly import Other
            #endif
            """
        ).imports
        #expect(
            found.map(\.module) == ["Foundation", "A", "C", "class", "Glibc", "Darwin", "Other"]
        )
        #expect(found.map(\.path)[1...2] == ["A.B", "C.D.E"])
        #expect(found.map(\.kind)[1] == "struct")
        #expect(found.map(\.access)[2...3] == [.public, .internal])
        #expect(found[1].attributes == .testable)
        #expect(found[2].attributes == .exported)
        #expect(found[5].attributes == .preconcurrency)
        #expect(found[6].attributes == .implementationOnly)
        #expect(found.map(\.isConditional) == [false, false, false, false, true, true, true])
        #expect(found[2].place == SourcePlace(line: 3, column: 28))
    }

    @Test("Declarations are read with their scope and access level")
    func declarations() {
        let found = facts(
            """
            public struct A {
                var a: Int
                public var b: Int { 1 }
                private enum B { case one(Int) }
                func f() { struct Local {} }
            }
            public extension A { func g() {} }
            public protocol P { var x: Int { get } }
            private let z = 1
            """
        ).declarations
        let access = Dictionary(
            uniqueKeysWithValues: found.map { ("\($0.kind.word) \($0.qualifiedName)", $0.access) }
        )
        #expect(access["struct A"] == .public)
        #expect(access["var A.a"] == .internal)
        #expect(access["var A.b"] == .public)
        #expect(access["enum A.B"] == .private)
        #expect(access["case A.B.one"] == .private)
        #expect(access["func A.f"] == .internal)
        #expect(access["struct A.f.Local"] == .private)
        #expect(access["func A.g"] == .public)
        #expect(access["var P.x"] == .public)
        #expect(access["var z"] == .private)
        #expect(found.first { $0.name == "a" }?.traits.contains(.isStored) == true)
        #expect(found.first { $0.name == "b" }?.traits.contains(.isStored) == false)
    }

    @Test("Types are recorded with the place of their use")
    func references() {
        let found = facts(
            """
            @Wrapped struct S<T: Bound>: Base, Other {
                let stored: Stored
                func f(_ a: Parameter) throws(Failure) -> Result { Body(); return Some.thing(1) }
                var t: T
            }
            extension Far.Away: Conformed {}
            typealias X = Y<Z>
            """
        ).references
        func context(_ path: String) -> ReferenceFact.Context? {
            found.first { $0.path == path }?.context
        }
        #expect(context("Wrapped") == .attribute)
        #expect(context("Bound") == .signature)
        #expect(context("Base") == .inheritance)
        #expect(context("Stored") == .storage)
        #expect(context("Parameter") == .signature)
        #expect(context("Failure") == .signature)
        #expect(context("Body") == .body)
        #expect(found.first { $0.path == "Body" }?.call == "()")
        #expect(found.first { $0.path == "Some.thing" }?.call == "(…)")
        #expect(context("Far.Away") == .extended)
        #expect(context("Conformed") == .inheritance)
        #expect(context("Y") == .alias)
        #expect(context("Z") == .alias)
        #expect(context("T") == nil)
    }

    @Test("A path across several lines is one path")
    func longPaths() {
        let found = facts("let x = URLSession\n    // why\n    .shared\n    .data").references
        #expect(found.map(\.path) == ["URLSession.shared.data"])
    }

    @Test("A path across several lines with Windows line endings is one path")
    func longPathsWithReturns() {
        let found = facts("let x = URLSession\r\n    // why\r\n    .shared\r\n    .data").references
        #expect(found.map(\.path) == ["URLSession.shared.data"])
    }

    @Test("Types are recorded in every part of the nodes whose tokens are skipped")
    func partsBesideWords() {
        let found = facts(
            ##"""
            func f(_ a: A, b: B = C()) -> D {
                call(E(), label: F(), { G() })
                text("one \(H()) two \(#"three \#(I())"#)")
                let list: [J] = [K(), L()]
                let pair = (M(), n: N()); O().go()
                P()!.go()
                -Q()
                return R()
            }
            struct S { var t: T { U() } }
            """##
        ).references
        let names = Set(found.map { String($0.root) })
        #expect(names == Set("ABCDEFGHIJKLMNOPQRTU".map(String.init)))
    }

    @Test("A long receiver is truncated to its first 80 characters")
    func longReceivers() throws {
        let plain = "try? store(\(String(repeating: "a", count: 100))).save(x)"
        let name = try #require(facts(plain).occurrences.first?.name)
        #expect(name == "store(" + String(repeating: "a", count: 74) + ".save")
        // Characters, not bytes.
        let accented = "try? store(\(String(repeating: "é", count: 100))).save(x)"
        let other = try #require(facts(accented).occurrences.first?.name)
        #expect(other == "store(" + String(repeating: "é", count: 74) + ".save")
    }

    @Test("Facts survive the round trip")
    func coding() throws {
        let samples = Corpus.all.flatMap { $0.files.filter { $0.key.hasSuffix(".swift") }.values }
        #expect(samples.count > 150)
        for text in samples {
            let written = facts(text)
            let bytes = FactCoding.bytes(of: written)
            let read = try bytes.withUnsafeBytes { try FactCoding.facts(from: $0) }
            #expect(read == written)
        }
    }

    @Test("Truncated and changed bytes are rejected or decoded, but never crash")
    func damagedBytes() {
        let bytes = FactCoding.bytes(of: facts("import A\nstruct B: C { let d: D = .init() }"))
        for count in bytes.indices {
            #expect(throws: FactCoding.Damage.self) {
                try bytes[..<count].withUnsafeBytes { try FactCoding.facts(from: $0) }
            }
        }
        for position in bytes.indices {
            for value in [0x00, 0x01, 0x7F, 0x80, 0xFF] as [UInt8] {
                var changed = bytes
                changed[position] = value
                _ = try? changed.withUnsafeBytes { try FactCoding.facts(from: $0) }
            }
        }
        // One text, no notes, no imports, and a declaration whose parent is the lowest number.
        let lowest: [UInt8] = [0x80, 0x80, 0x80, 0x80, 0xF8, 0xFF, 0xFF, 0xFF, 0xFF, 0x01]
        let orphan: [UInt8] = [1, 1, 0x41, 0, 0, 1, 0, 0] + lowest + [0, 0, 0, 0, 0, 0, 0]
        #expect(throws: FactCoding.Damage.self) {
            try orphan.withUnsafeBytes { try FactCoding.facts(from: $0) }
        }
    }

    @Test("A difference of one bit changes the hash")
    func hashes() {
        var seen: Set<ContentHash> = []
        let bytes = [UInt8](repeating: 0, count: 40)
        for count in 0...40 {
            bytes[..<count].withUnsafeBytes { _ = seen.insert(ContentHash($0)) }
        }
        for bit in 0..<320 {
            var changed = bytes
            changed[bit / 8] ^= 1 << (bit % 8)
            changed.withUnsafeBytes { _ = seen.insert(ContentHash($0)) }
        }
        #expect(seen.count == 41 + 320)
    }
}

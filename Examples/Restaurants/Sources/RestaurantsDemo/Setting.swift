import Foundation

/// The environment of a demonstration: the programs, the data and a folder for the store.
struct Setting: Sendable {
    /// A restaurant of the data, to compare the app's output with.
    struct Known: Decodable, Sendable {
        let id: String
        let name: String
        let borough: String
        /// The position in the file's format: the service's, or that of inspections.
        private let lat: Double?
        private let lng: Double?
        private let location: Location?

        /// Degrees north and east; nil if unknown.
        var place: (latitude: Double, longitude: Double)? {
            if let location { return (location.latitude, location.longitude) }
            guard let lat, let lng else { return nil }
            return (lat, lng)
        }

        private struct Location: Decodable, Sendable {
            let latitude: Double
            let longitude: Double
        }
    }

    /// The folder of the programs.
    let programs: URL
    /// The file of the served restaurants.
    let data: URL
    /// The restaurants in the data.
    let restaurants: [Known]
    /// An empty folder, which is removed at the end.
    let folder: URL

    var store: String { folder.appending(path: "Restaurants.sqlite").path(percentEncoded: false) }

    /// The file with the path of the server's program, which appears when that is compiled.
    let serverPath: URL?
    /// The script that runs a PostgreSQL server; nil where none is installed.
    let postgreSQL: URL?

    init(data file: String?, server: String? = nil, postgreSQL: String? = nil) throws {
        guard let program = Bundle.main.executableURL else {
            throw DemoFailure("cannot tell where this program is")
        }
        programs = program.resolvingSymlinksInPath().deletingLastPathComponent()
        data = file.map { URL(fileURLWithPath: $0) } ?? Self.ownData
        serverPath = server.map { URL(fileURLWithPath: $0) }
        self.postgreSQL = postgreSQL.map { URL(fileURLWithPath: $0) }
        restaurants = try Self.read(data)
        folder = FileManager.default.temporaryDirectory
            .appending(path: "restaurants-demo-\(ProcessInfo.processInfo.processIdentifier)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// The first restaurant with a known place.
    var measured: Known? { restaurants.first { $0.place != nil } }

    /// Its place in the app's input format.
    var place: String { measured?.place.map { "\($0.latitude),\($0.longitude)" } ?? "0,0" }

    func cleanUp() {
        // If this fails, the system empties its temporary folder.
        try? FileManager.default.removeItem(at: folder)
    }

    /// Returns the files in the folder and its subfolders.
    func files() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path(percentEncoded: false))
            .filter { path in
                var isFolder: ObjCBool = false
                let file = folder.appending(path: path).path(percentEncoded: false)
                return FileManager.default.fileExists(atPath: file, isDirectory: &isFolder)
                    && !isFolder.boolValue
            }
    }

    func program(_ name: String) throws -> URL {
        let program = programs.appending(path: name)
        guard FileManager.default.isExecutableFile(atPath: program.path(percentEncoded: false))
        else {
            throw DemoFailure("\(name) is not beside this program: run Scripts/demo.sh")
        }
        return program
    }

    /// Writes the data without one restaurant.
    func writeData(without id: String, to file: URL) throws {
        let decoder = JSONDecoder()
        let lines = try String(contentsOf: data, encoding: .utf8).split(separator: "\n").filter {
            (try? decoder.decode(Known.self, from: Data($0.utf8)))?.id != id
        }
        try Data(lines.joined(separator: "\n").utf8).write(to: file)
    }

    /// `Data/restaurants.jsonl` of this package, because the demonstration runs where it was built.
    private static var ownData: URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Data/restaurants.jsonl").standardized
    }

    private static func read(_ file: URL) throws -> [Known] {
        let text: String
        do {
            text = try String(contentsOf: file, encoding: .utf8)
        } catch {
            throw DemoFailure("cannot read \(file.relativePath): give another with --data FILE")
        }
        let decoder = JSONDecoder()
        let known = text.split(separator: "\n").compactMap { line in
            // The service reports bad lines with their numbers.
            try? decoder.decode(Known.self, from: Data(line.utf8))
        }
        guard known.count >= 10 else {
            throw DemoFailure("\(file.relativePath) has fewer than 10 restaurants")
        }
        return known
    }
}

/// The reason why a step failed.
struct DemoFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

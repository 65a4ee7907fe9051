import ArgumentParser

struct DocumentsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "documents",
        abstract: "Imports, exports, queries, changes, watches, copies and compares documents.",
        discussion: """
            A store is the path of an SQLite file, sqlite:PATH, postgres://USER@HOST/DATABASE, the \
            address of a Keel server (http://localhost:8080) or firestore:PROJECT: --storage, the \
            variable KEEL_STORAGE, or storage in keel.toml. import, set, copy and indexes import \
            create a missing one.

            The token of a server is in KEEL_TOKEN, the password of a database in PGPASSWORD or \
            ~/.pgpass, and Google's key file in GOOGLE_APPLICATION_CREDENTIALS.

            Exit codes, except of diff: 0 done; 1 failed; 2 done, with something to look at (bad \
            lines, documents that differ or cannot be read, indexes without a counterpart); 64 the \
            command line is wrong; 129, 130 or 143 a signal ended it; 141 the reader of its output \
            has ended.

                keel documents query notes --storage notes.sqlite --where 'stars >= 4'
                keel documents export notes --storage notes.sqlite > notes.jsonl
            """,
        subcommands: [
            ImportCommand.self, ExportCommand.self, QueryCommand.self, GetCommand.self,
            SetCommand.self, DeleteCommand.self, WatchCommand.self, CopyCommand.self,
            DiffCommand.self, IndexesCommand.self, ShellCommand.self,
        ]
    )
}

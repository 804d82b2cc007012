// Objects, strings, sorting, JSON and regular expressions. V8's garbage collector has threads of its own.
'use strict';

const rounds = Number(process.argv[2] ?? 60);
let random = 1;
const next = () => (random = (Math.imul(random, 1664525) + 1013904223) >>> 0);

let checksum = 0;
for (let round = 0; round < rounds; round++) {
  const people = [];
  for (let i = 0; i < 8000; i++) {
    people.push({ id: i, name: `n${next() % 5000}`, tags: [next() % 7, next() % 11], score: next() / 2 ** 32 });
  }
  people.sort((a, b) => a.score - b.score || a.id - b.id);
  const byName = new Map();
  for (const person of people) {
    const known = byName.get(person.name) ?? [];
    known.push(person);
    byName.set(person.name, known);
  }
  const text = JSON.stringify([...byName]);
  const copy = JSON.parse(text);
  checksum = (checksum + copy.length + text.replace(/n(\d)\d*/g, '$1').length) >>> 0;
}
console.log(`${rounds} rounds, checksum ${checksum}`);
